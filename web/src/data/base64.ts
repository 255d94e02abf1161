/** Bytes of a text in base64, without decoding all of it. */

type Decoder = (text: string) => Uint8Array;

const native = (Uint8Array as unknown as { fromBase64?: Decoder }).fromBase64;

const plain: Decoder = (text) => {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
};

export const decode: Decoder = native ? (text) => native.call(Uint8Array, text) : plain;

/** Bytes `offset` to `offset + length`. */
export function slice(text: string, offset: number, length: number): Uint8Array {
  const first = Math.floor(offset / 3);
  const last = Math.ceil((offset + length) / 3);
  if (offset < 0 || length < 0 || last * 4 > text.length) throw new Error('the page’s arrays end before what its data say');
  const skipped = offset - first * 3;
  const bytes = decode(text.slice(first * 4, last * 4)).subarray(skipped, skipped + length);
  if (bytes.length < length) throw new Error('the page’s arrays end before what its data say');
  return bytes;
}
