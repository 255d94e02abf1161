/** What tests of the core share: the core itself, the program that it must agree with, and the test data. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { localWorker } from './local';
import { openCore } from './open';
import type { ArraySystem, Core, HeadArray } from './types';

const root = resolve(import.meta.dirname, '../../..');

/** Of tests/data. */
export const dataFile = (name: string) => resolve(root, 'tests/data', name);
export const dataBytes = (name: string) => new Uint8Array(readFileSync(dataFile(name)));
export const dataJson = <Document>(name: string) => JSON.parse(readFileSync(dataFile(name), 'utf8')) as Document;

export const wasmFile = resolve(root, 'web/core/synergraph.wasm');

export const openTestCore = (): Promise<Core> => openCore({ wasm: readFileSync(wasmFile), createWorker: localWorker });

/** The program, if it was built: $SYNERGRAPH, or that of the release build. */
export const program = [process.env['SYNERGRAPH'], resolve(root, 'build/release/cli/synergraph')].find((path) => path !== undefined && existsSync(path));

/** With the kernels that those of WebAssembly must agree with bit by bit. */
const environment = { ...process.env, SYNERGRAPH_ISA: 'v2' };

export const programJson = (...args: string[]): unknown =>
  JSON.parse(execFileSync(program!, args, { env: environment, encoding: 'utf8', maxBuffer: 1 << 28 }));

/** The line that the program prints when it refuses; nothing if it does not. */
export function programError(cwd: string, ...args: string[]): string | null {
  const { status, stderr } = spawnSync(program!, args, { cwd, env: environment, encoding: 'utf8' });
  return status === 0 ? null : stderr.trimEnd();
}

/** Random causal attention, the same for every run. */
export function randomSystem(heads: number, tokens: number, seed = 1): ArraySystem {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const head = (): HeadArray => {
    const rows: number[] = [];
    for (let i = 0; i < tokens; i++) {
      const row = Array.from({ length: i + 1 }, () => Math.exp(3 * next()));
      const sum = row.reduce((a, b) => a + b);
      rows.push(...row.map((value) => value / sum));
    }
    return { bytes: new Uint8Array(Float64Array.from(rows).buffer), dtype: 'float64', rows: 'lower' };
  };
  return { tokens, heads: Array.from({ length: heads }, head) };
}

/** An archive of one array of doubles. */
export function safetensors(name: string, shape: number[], number: (k: number) => number): Blob {
  const count = shape.reduce((a, b) => a * b);
  const text = JSON.stringify({ [name]: { dtype: 'F64', shape, data_offsets: [0, 8 * count] } });
  const header = new TextEncoder().encode(text.padEnd(8 * Math.ceil(text.length / 8)));
  return new Blob([BigUint64Array.of(BigInt(header.length)), header, Float64Array.from({ length: count }, (_, k) => number(k))]);
}
