import { describe, expect, it } from 'vitest';
import { readPage } from './page';

const page = (text: string) => ({ getElementById: () => ({ textContent: text }) }) as unknown as Document;

describe('readPage', () => {
  it('finds nothing in an empty page', () => expect(readPage(page('null'))).toBeNull());
  it('refuses other versions', () =>
    expect(() => readPage(page('{"format":"synergraph.page","version":2}'))).toThrow('version 2'));
});
