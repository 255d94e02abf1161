/** Checks of documents that come from outside: what is wrong is said with its place. */

export type Check = (value: unknown, place: string) => void;

class Wrong extends Error {}

const refuse = (place: string, expected: string): never => {
  throw new Wrong(`${place || 'the document'} is not ${expected}`);
};

const when =
  (test: (value: unknown) => boolean, expected: string): Check =>
  (value, place) => {
    if (!test(value)) refuse(place, expected);
  };

export const text = when((v) => typeof v === 'string', 'a text');
export const number = when((v) => typeof v === 'number' && Number.isFinite(v), 'a number');
export const numberOrNull = when((v) => v === null || (typeof v === 'number' && Number.isFinite(v)), 'a number or null');
export const count = when((v) => Number.isInteger(v) && (v as number) >= 0, 'a whole number');
export const yesOrNo = when((v) => typeof v === 'boolean', 'true or false');
export const one = (...names: (string | number)[]): Check =>
  when((v) => names.includes(v as string), names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`);
export const either =
  (...checks: Check[]): Check =>
  (value, place) => {
    let first: unknown;
    for (const check of checks) {
      try {
        return check(value, place);
      } catch (error) {
        first ??= error;
      }
    }
    throw first;
  };
/** A field that may be missing; null is like missing. */
export const optional =
  (check: Check): Check =>
  (value, place) => {
    if (value !== undefined && value !== null) check(value, place);
  };

export const list =
  (of: Check, least = 0): Check =>
  (value, place) => {
    if (!Array.isArray(value)) return refuse(place, 'a list');
    if (value.length < least) refuse(place, 'a list with something in it');
    value.forEach((item, k) => of(item, `${place}[${k}]`));
  };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const at = (place: string, key: string) => (place ? `${place}.${key}` : key);

/** An object with these fields; others may be there. */
export const object =
  (fields: Record<string, Check>): Check =>
  (value, place) => {
    if (!isObject(value)) return refuse(place, 'an object');
    for (const [key, check] of Object.entries(fields)) {
      try {
        check(Object.hasOwn(value, key) ? value[key] : undefined, at(place, key));
      } catch (error) {
        if (error instanceof Wrong && !Object.hasOwn(value, key)) throw new Wrong(`${at(place, key)} is missing`);
        throw error;
      }
    }
  };

/** An object whose values are all alike. */
export const record =
  (of: Check): Check =>
  (value, place) => {
    if (!isObject(value)) return refuse(place, 'an object');
    for (const [key, item] of Object.entries(value)) of(item, at(place, key));
  };

export const all =
  (...checks: Check[]): Check =>
  (value, place) =>
    checks.forEach((check) => check(value, place));

/** A condition over a value whose parts were checked. */
export const such = <T>(test: (value: T) => boolean, expected: string): Check => when((v) => test(v as T), expected);

/** The document, if it is right; else an error of one line that names the file and the place. */
export function checked<T>(name: string, document: unknown, check: Check): T {
  try {
    check(document, '');
  } catch (error) {
    throw error instanceof Wrong ? new Error(`${name}: ${error.message.replaceAll(/\s+/g, ' ').slice(0, 300)}`) : error;
  }
  return document as T;
}
