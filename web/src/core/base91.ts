/** Bytes as text: two characters for every 13 bits. None of the characters needs an escape in a script's "string". */

const CHARACTERS = Array.from({ length: 94 }, (_, k) => String.fromCharCode(33 + k)).filter((c) => !'"\\<'.includes(c));
const BITS = 13; // 91 x 91 pairs of characters are enough for 2 ** 13 values

/** The last bits, fewer than 13, are filled up with zeros. */
export function encode91(bytes: Uint8Array): string {
  let text = '';
  let [buffer, held] = [0, 0];
  const put = () => {
    const value = buffer % 2 ** BITS;
    text += CHARACTERS[value % 91]! + CHARACTERS[Math.floor(value / 91)]!;
    buffer = Math.floor(buffer / 2 ** BITS);
    held -= BITS;
  };
  for (const byte of bytes) {
    buffer += byte * 2 ** held;
    held += 8;
    if (held >= BITS) put();
  }
  if (held > 0) put();
  return text;
}

/** The first `length` bytes of a text. */
export function decode91(text: string, length: number): Uint8Array<ArrayBuffer> {
  const value = new Uint8Array(128);
  CHARACTERS.forEach((character, k) => (value[character.charCodeAt(0)] = k));
  const bytes = new Uint8Array(length);
  let [buffer, held, at] = [0, 0, 0];
  for (let k = 0; k < text.length; k += 2) {
    buffer |= (value[text.charCodeAt(k)]! + 91 * value[text.charCodeAt(k + 1)]!) << held;
    for (held += BITS; held >= 8; held -= 8, buffer >>>= 8) bytes[at++] = buffer & 255;
  }
  return bytes;
}
