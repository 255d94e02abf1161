/** Files that are wrong get the line that the program prints, and the core goes on. */

import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dataBytes, dataFile, openTestCore, program, programError } from './testing';
import type { Core } from './types';

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

function npy(dictionary: string, data = '1234', version = 1): Uint8Array {
  const length = [dictionary.length & 255, (dictionary.length >> 8) & 255, (dictionary.length >> 16) & 255, dictionary.length >>> 24];
  return bytesOf(`\x93NUMPY${String.fromCharCode(version, 0, ...length.slice(0, version > 1 ? 4 : 2))}${dictionary}${data}`);
}

const dictionary = (shape: string, type = '<f4') => `{'descr': '${type}', 'fortran_order': False, 'shape': ${shape}, }\n`;

function safetensors(header: string, data = '', length = header.length): Uint8Array {
  const size = new Uint8Array(new BigUint64Array([BigInt(length)]).buffer);
  return new Uint8Array([...size, ...bytesOf(header), ...bytesOf(data)]);
}

const tensor = (shape: string, offsets: string, type = 'F32') => `{"a":{"dtype":"${type}","shape":${shape},"data_offsets":${offsets}}}`;

/** tests/io/npy_test.cpp, safetensors_test.cpp. */
function hostileFiles(): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const add = (ending: string, ...contents: Uint8Array[]) => contents.forEach((bytes) => files.set(`${files.size}.${ending}`, bytes));
  for (const name of ['npy_fortran_be.npy', 'all.safetensors', 'npz_deflated.npz', 'npz_stored.npz']) {
    const whole = dataBytes(`io/${name}`);
    const step = Math.max(1, Math.floor(whole.length / 40));
    for (let size = 0; size < whole.length; size += step) add(name.split('.')[1]!, whole.slice(0, size));
    add(name.split('.')[1]!, new Uint8Array([...whole, 120]));
    for (let at = 3; at < whole.length; at += Math.max(1, Math.floor(whole.length / 60))) {
      if (name.startsWith('npz')) continue; // libzip has words of its own
      const bent = whole.slice();
      bent[at]! ^= 0x55;
      add(name.split('.')[1]!, bent);
    }
  }
  add(
    'npy',
    npy(dictionary('(1,)', '|O'), 'x'),
    npy(dictionary('(1,)', '<c8'), '12345678'),
    npy(dictionary('(1,)'), '1234', 4),
    npy(dictionary('(4294967296, 4294967296)')),
    npy(dictionary('(0, 9223372036854775807, 2)')),
    npy(dictionary('(-1,)')),
    npy(dictionary('(99999999999999999999,)')),
    npy(dictionary('(1.5,)')),
    npy(dictionary(`(${'1,'.repeat(65)})`)),
    npy(dictionary('1')),
    npy(dictionary('(1 1)')),
    npy(''),
    npy("{'descr': '<f4', 'shape': (1,)}"),
    npy("{'other': 1}"),
    npy("{'shape': (1,), 'shape': (1,)}"),
    npy("{'\n': (1,)}"),
    npy("{'descr"),
    npy(dictionary('(1,)') + 'x'),
    npy("{'fortran_order': None}"),
    bytesOf('text'),
  );
  add(
    'safetensors',
    safetensors('{}', 'x'),
    safetensors(tensor('[1]', '[0,4]'), '123'),
    safetensors(tensor('[1]', '[4,8]'), '12345678'),
    safetensors(tensor('[1]', '[4,0]'), '1234'),
    safetensors(tensor('[4294967296,4294967296]', '[0,4]'), '1234'),
    safetensors(tensor('[1]', '[0,4]', 'F8_E4M3'), '1234'),
    safetensors(tensor('[-1]', '[0,4]'), '1234'),
    safetensors(tensor('[1.5]', '[0,4]'), '1234'),
    safetensors(tensor('[99999999999999999999]', '[0,4]'), '1234'),
    safetensors('{"a":{"dtype":{}}}'),
    safetensors('{"a":null}'),
    safetensors('{"a\\nb":' + '['.repeat(1000)),
    safetensors('['.repeat(100000)),
    safetensors('{"<script>alert(1)</script>":1}'),
    safetensors('{}', '', 3),
    safetensors('{}', '', 100000000),
    safetensors('{}', '', 100000001),
    safetensors('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":1}', '1234'),
    safetensors('{"\xff":1}'),
  );
  add('txt', bytesOf('some text here'), new Uint8Array(0));
  return files;
}

describe.skipIf(program === undefined)('hostile files', () => {
  let core: Core;
  beforeAll(async () => {
    core = await openTestCore();
  });
  const directory = mkdtempSync(join(tmpdir(), 'synergraph-'));
  const ours = async (name: string, bytes: Uint8Array) => {
    try {
      await core.inspect(name, bytes);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('get the same line', async () => {
    const files = hostileFiles();
    let refused = 0;
    for (const [name, bytes] of files) {
      writeFileSync(join(directory, name), bytes);
      const line = programError(directory, 'inspect', name);
      const { length } = bytes;
      if (/libzip|zip archive|Zip|Zlib/.test(line ?? '')) expect(await ours(name, bytes), `${name}, ${length} bytes: ${line}`).not.toBeNull();
      else expect(await ours(name, bytes), `${name}, ${length} bytes`).toBe(line?.replace(/^synergraph: /, '') ?? null);
      refused += line === null ? 0 : 1;
    }
    expect(refused).toBeGreaterThan(100);
  }, 120_000);

  it('of the test data, too', async () => {
    for (const name of readdirSync(dataFile('io')).filter((file) => /\.(npy|npz|safetensors)$/.test(file))) {
      const line = programError(dataFile('io'), 'inspect', name);
      expect(await ours(name, dataBytes(`io/${name}`)), name).toBe(line?.replace(/^synergraph: /, '') ?? null);
    }
  });

  it('of attention that is none', async () => {
    const cases: [string, Uint8Array][] = [
      ['rank.npy', npy(dictionary('(1,)'))],
      ['square.npy', npy(dictionary('(1, 2)'), '12345678')],
      ['sum.npy', npy(dictionary('(1, 1)'), '\0\0\0\x3f')],
      ['nan.npy', npy(dictionary('(1, 1)'), '\0\0\xc0\x7f')],
      ['future.npy', npy(dictionary('(2, 2)'), '\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f\0\0\0\x3f')],
      ['integers.npy', npy(dictionary('(1, 1)', '<i4'))],
    ];
    for (const [name, bytes] of cases) {
      writeFileSync(join(directory, name), bytes);
      const line = programError(directory, 'analyze', name);
      expect(line, name).not.toBeNull();
      const refused = core.open(name, bytes).then((file) => file.analyze());
      // The page spells options as the C interface does: row_tolerance, not --row-tolerance.
      const spelled = line!.replace(/^synergraph: /, '').replace(/--([a-z-]+)/g, (_, option: string) => option.replaceAll('-', '_'));
      await expect(refused, name).rejects.toThrow(spelled);
    }
    expect((await core.version()).isa).toBe('wasm-simd128');
  });
});
