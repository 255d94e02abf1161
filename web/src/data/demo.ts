/** Attention that is made up, to try the page with: six heads of kinds that models are known to have. */

/** Numbers between 0 and 1, the same every time (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const KINDS: ((query: number, key: number, sharp: number) => number)[] = [
  (i, j, sharp) => -sharp * Math.abs(i - 1 - j), // the token before
  (i, j) => -0.25 * (i - j), // near ones
  (_, j, sharp) => (j === 0 ? 2 + sharp : 0), // the first
  (i, j, sharp) => ((i - j) % 7 === 0 ? sharp : -1), // every seventh
  () => 0, // all alike
  (i, j) => (j < i / 2 ? 1.2 : -0.6), // early ones
];

/** Scores to a causal matrix. */
function softmax(n: number, score: (i: number, j: number) => number, out: Float32Array, offset: number): void {
  for (let i = 0; i < n; ++i) {
    const scores = Float64Array.from({ length: i + 1 }, (_, j) => score(i, j));
    const most = scores.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = scores.map((value) => Math.exp(value - most));
    const total = powers.reduce((a, b) => a + b, 0);
    powers.forEach((value, j) => (out[offset + i * n + j] = value / total));
  }
}

/** An .npy file of float32, (layers, samples, heads, n, n). */
export function demoFile(layers = 3, samples = 4, n = 48): Uint8Array {
  const heads = KINDS.length;
  const values = new Float32Array(layers * samples * heads * n * n);
  const draw = random(7);
  let offset = 0;
  for (let l = 0; l < layers; ++l)
    for (let sample = 0; sample < samples; ++sample)
      for (const kind of KINDS) {
        const noise = Float64Array.from({ length: n * n }, () => 1.6 * (draw() - 0.5));
        const keys = Float64Array.from({ length: n }, () => 2.2 * draw() ** 4);
        softmax(n, (i, j) => kind(i, j, 1.5 + 0.8 * l) + noise[i * n + j]! + keys[j]!, values, offset);
        offset += n * n;
      }
  return npy([layers, samples, heads, n, n], values);
}

/** The bytes of a NumPy file, version 1. */
export function npy(shape: number[], values: Float32Array): Uint8Array {
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const padded = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + '\n';
  const bytes = new Uint8Array(10 + padded.length + values.byteLength);
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length & 255, padded.length >> 8]);
  bytes.set(new TextEncoder().encode(padded), 10);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), 10 + padded.length);
  return bytes;
}
