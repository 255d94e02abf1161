/** Takes .npz files apart, with the browser's own decompression: web/core/runtime/zip_archive.cpp reads what comes out. */

import { memorySource, type Source } from './host';

/** What the directory says of a member. `failure`: why it could not be decompressed; empty if it could. */
interface Place {
  name: Uint8Array;
  encrypted: boolean;
  method: number;
  size: number;
  stored: number;
  failure: string;
  offset: number;
  sum: number;
}

const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const DEFLATED = 8;
const FULL_32 = 0xffffffff;
const MOST_MEMBERS = 1_000_000;

class BadArchive extends Error {}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n >>> 0;
});

function checksum(bytes: Uint8Array): number {
  let sum = FULL_32;
  for (const byte of bytes) sum = (sum >>> 8) ^ CRC_TABLE[(sum ^ byte) & 0xff]!;
  return (sum ^ FULL_32) >>> 0;
}

async function read(blob: Blob, offset: number, count: number): Promise<DataView> {
  if (offset < 0 || offset + count > blob.size) throw new BadArchive('Zip archive inconsistent');
  return new DataView(await blob.slice(offset, offset + count).arrayBuffer());
}

/** Where the directory is, and how many members it has. */
async function findDirectory(blob: Blob): Promise<{ offset: number; size: number; count: number }> {
  const length = Math.min(blob.size, 22 + 0xffff);
  const tail = await read(blob, blob.size - length, length);
  for (let at = length - 22; at >= 0; at--) {
    if (tail.getUint32(at, true) !== END || at + 22 + tail.getUint16(at + 20, true) > length) continue;
    const found = { count: tail.getUint16(at + 10, true), size: tail.getUint32(at + 12, true), offset: tail.getUint32(at + 16, true) };
    const before = blob.size - length + at - 20;
    if (before >= 0) {
      const locator = await read(blob, before, 20);
      if (locator.getUint32(0, true) === LOCATOR_64) {
        const end = await read(blob, Number(locator.getBigUint64(8, true)), 56);
        if (end.getUint32(0, true) !== END_64) throw new BadArchive('Zip archive inconsistent');
        return {
          count: Number(end.getBigUint64(32, true)),
          size: Number(end.getBigUint64(40, true)),
          offset: Number(end.getBigUint64(48, true)),
        };
      }
    }
    return found;
  }
  throw new BadArchive('Not a zip archive');
}

/** Numbers that were too large for their fields, in the order of the fields. */
function* largeNumbers(extra: DataView): Generator<number, undefined> {
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const size = extra.getUint16(at + 2, true);
    if (extra.getUint16(at, true) === 1)
      for (let k = at + 4; k + 8 <= Math.min(at + 4 + size, extra.byteLength); k += 8) yield Number(extra.getBigUint64(k, true));
    at += 4 + size;
  }
  return undefined;
}

async function readDirectory(blob: Blob): Promise<Place[]> {
  const { offset, size, count } = await findDirectory(blob);
  const view = await read(blob, offset, size);
  const entries: Place[] = [];
  if (count > MOST_MEMBERS) throw new BadArchive('Zip archive inconsistent');
  for (let at = 0, k = 0; k < count; k++) {
    if (at + 46 > size || view.getUint32(at, true) !== CENTRAL) throw new BadArchive('Zip archive inconsistent');
    const lengths = [view.getUint16(at + 28, true), view.getUint16(at + 30, true), view.getUint16(at + 32, true)] as const;
    const end = at + 46 + lengths[0] + lengths[1] + lengths[2];
    if (end > size) throw new BadArchive('Zip archive inconsistent');
    const large = largeNumbers(new DataView(view.buffer, at + 46 + lengths[0], lengths[1]));
    const number = (field: number) => {
      const value = view.getUint32(at + field, true);
      return value === FULL_32 ? (large.next().value ?? value) : value;
    };
    const uncompressed = number(24);
    const stored = number(20);
    entries.push({
      name: new Uint8Array(view.buffer, at + 46, lengths[0]),
      encrypted: (view.getUint16(at + 8, true) & 1) !== 0,
      method: view.getUint16(at + 10, true),
      size: uncompressed,
      stored,
      offset: number(42),
      sum: view.getUint32(at + 16, true),
      failure: '',
    });
    at = end;
  }
  return entries;
}

/** Decompresses no more than the member says it has. */
async function inflate(blob: Blob, size: number): Promise<Uint8Array> {
  const into = new Uint8Array(size);
  const reader = blob.stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (length + value.length > size) throw new BadArchive('its data are longer than declared');
      into.set(value, length);
      length += value.length;
    }
  } catch (error) {
    throw error instanceof BadArchive ? error : new BadArchive('Zlib error: data error');
  }
  if (length < size) throw new BadArchive('its data end early');
  return into;
}

async function memberBytes(blob: Blob, entry: Place): Promise<Uint8Array> {
  const local = await read(blob, entry.offset, 30);
  if (local.getUint32(0, true) !== LOCAL) throw new BadArchive('Zip archive inconsistent');
  const start = entry.offset + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  if (start + entry.stored > blob.size) throw new BadArchive('its data end early');
  const stored = blob.slice(start, start + entry.stored);
  const bytes = entry.method === DEFLATED ? await inflate(stored, entry.size) : new Uint8Array(await stored.arrayBuffer());
  if (checksum(bytes) !== entry.sum) throw new BadArchive('CRC error');
  return bytes;
}

const isArchive = async (blob: Blob) => blob.size >= 4 && [0x04034b50, 0x06054b50].includes((await read(blob, 0, 4)).getUint32(0, true));

const encoder = new TextEncoder();

/** The directory as the module reads it. */
function directory(failure: string, entries: readonly Place[]): Source {
  const parts: Uint8Array[] = [];
  const numbers = (...values: number[]) => parts.push(new Uint8Array(Uint32Array.from(values).buffer));
  const large = (...values: number[]) => parts.push(new Uint8Array(BigUint64Array.from(values, BigInt).buffer));
  numbers(encoder.encode(failure).length);
  parts.push(encoder.encode(failure));
  numbers(entries.length);
  for (const entry of entries) {
    const why = encoder.encode(entry.failure);
    large(entry.size, entry.stored);
    numbers(entry.method, entry.encrypted ? 1 : 0, entry.name.length, why.length);
    parts.push(entry.name, why);
  }
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
  return memorySource(all);
}

/** What the module reads of an archive beside it, by the endings of their names; nothing for other files. */
export async function unpack(name: string, blob: Blob): Promise<Map<string, Source>> {
  const sources = new Map<string, Source>();
  if (!(await isArchive(blob)) && !/\.(npz|pt|pth)$/.test(name)) return sources;
  try {
    const entries = await readDirectory(blob);
    for (const [index, entry] of entries.entries()) {
      // What the module refuses anyway is not decompressed.
      const plausible = entry.method === DEFLATED ? entry.size <= 1032 * (entry.stored + 1) : entry.method === 0 && entry.size === entry.stored;
      if (entry.encrypted || !plausible) continue;
      try {
        sources.set(`\n${index}`, memorySource(await memberBytes(blob, entry)));
      } catch (error) {
        entry.failure = error instanceof BadArchive ? error.message : 'out of memory';
      }
    }
    sources.set('\nmembers', directory('', entries));
  } catch (error) {
    sources.set('\nmembers', directory(error instanceof BadArchive ? error.message : String(error), []));
  }
  return sources;
}
