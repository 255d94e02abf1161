import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'vite';
import { expect, it } from 'vitest';

/** Lines that a function may have, those of the functions in it included. */
const MOST = 80;

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
  expect(files.flatMap(longFunctions)).toEqual([]);
});
