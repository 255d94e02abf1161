import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'vite';
import { expect, it } from 'vitest';

/** Lines that a function may have, those of the functions in it included. */
const MOST = 80;

/** Functions that are longer still: files and how many. The list only shrinks. */
const KNOWN: Record<string, number> = {
  'charts/lines.ts': 2,
  'views/files.ts': 1,
  'views/layer.ts': 1,
  'views/mixer.ts': 1,
  'views/overview.ts': 2,
  'views/study.ts': 1,
  'views/worth.ts': 1,
};

/** `file:line: N lines` of every function that is longer. */
function longFunctions(file: string): string[] {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const line = (at: number) => text.slice(0, at).split('\n').length;
  const found: string[] = [];
  const check = ({ start, end }: { start: number; end: number }) => {
    const length = line(end) - line(start) + 1;
    if (length > MOST) found.push(`${file}:${line(start)}: ${length} lines`);
  };
  const visitor = new Visitor({ FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check });
  visitor.visit(parseSync(file, text).program);
  return found;
}

it(`no function has more than ${MOST} lines`, () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(50);
  const found = files
    .map((file) => ({ file, long: longFunctions(file) }))
    .filter(({ file, long }) => long.length !== (KNOWN[file] ?? 0));
  expect(found).toEqual([]);
});
