/** Checks documents that come from outside by the program's schemas: what is wrong is said with its place. */
import schemas from './schemas.json';

/** A type of JSON Schema, as far as the program's documents need it; `$ref` names a part. */
interface Type {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Type[];
  type?: string | string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  items?: Type;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Type>;
  patternProperties?: Record<string, Type>;
  additionalProperties?: Type;
  /** Fields that may be absent. */
  optional?: string[];
}

const { documents, parts } = schemas as unknown as { documents: Record<string, string>; parts: Record<string, Type> };

class Wrong extends Error {}

const KINDS: Record<string, [name: string, test: (value: unknown) => boolean]> = {
  null: ['null', (v) => v === null],
  string: ['a text', (v) => typeof v === 'string'],
  boolean: ['true or false', (v) => typeof v === 'boolean'],
  number: ['a number', (v) => typeof v === 'number' && Number.isFinite(v)],
  integer: ['a whole number', (v) => Number.isInteger(v)],
  array: ['a list', (v) => Array.isArray(v)],
  object: ['an object', (v) => typeof v === 'object' && v !== null && !Array.isArray(v)],
};

const kindsOf = (type: Type): string[] => [type.type ?? 'object'].flat();
const resolved = (type: Type): Type => (type.$ref === undefined ? type : parts[type.$ref]!);

/** What is expected, in words. */
function expected(type: Type): string {
  const of = resolved(type);
  if (of.anyOf) return of.anyOf.map(expected).join(' or ');
  if (of.enum) return `one of ${of.enum.join(', ')}`;
  return 'const' in of
    ? String(of.const)
    : kindsOf(of)
        .map((kind) => KINDS[kind]![0])
        .join(' or ');
}

function refuse(place: string, type: Type): never {
  throw new Wrong(`${place || 'the document'} is not ${expected(type)}`);
}

const at = (place: string, key: string) => (place ? `${place}.${key}` : key);

function fieldsOf(type: Type, value: Record<string, unknown>, place: string): Record<string, unknown> {
  const { properties = {}, patternProperties = {}, optional = [], additionalProperties } = type;
  for (const key of Object.keys(properties))
    if (!Object.hasOwn(value, key) && !optional.includes(key)) throw new Wrong(`${at(place, key)} is missing`);
  const patterns = Object.entries(patternProperties);
  const known: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const of = Object.hasOwn(properties, key)
      ? properties[key]
      : (patterns.find(([pattern]) => new RegExp(pattern).test(key))?.[1] ?? additionalProperties);
    if (of === undefined || (item === null && (optional.includes(key) || !Object.hasOwn(properties, key)))) continue;
    known.push([key, read(of, item, at(place, key))]);
  }
  return Object.fromEntries(known);
}

/** The value without fields that the type does not have. A field that may be missing may be null, too. */
function read(type: Type, value: unknown, place: string): unknown {
  const of = resolved(type);
  if (of.anyOf) {
    const fitting = of.anyOf.filter((one) => fits(resolved(one), value));
    if (fitting.length === 0) refuse(place, of);
    return read(fitting[0]!, value, place);
  }
  if (!fits(of, value)) refuse(place, of);
  if (Array.isArray(value)) {
    const { items, minItems = 0, maxItems = Infinity } = of;
    if (value.length < minItems || value.length > maxItems)
      throw new Wrong(
        `${place} is not a list ${maxItems === Infinity && minItems === 1 ? 'with something in it' : `of ${minItems}`}`,
      );
    return items ? value.map((item, k) => read(items, item, `${place}[${k}]`)) : value;
  }
  const isOpen = !of.properties && !of.additionalProperties;
  return typeof value === 'object' && value !== null && !isOpen ? fieldsOf(of, value as Record<string, unknown>, place) : value;
}

/** Whether a value is of the type, apart from what it contains. */
function fits(type: Type, value: unknown): boolean {
  if (type.anyOf) return type.anyOf.some((one) => fits(resolved(one), value));
  if ('const' in type) return value === type.const;
  if (type.enum) return type.enum.includes(value);
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = type;
  const inRange = typeof value !== 'number' || (value >= minimum && value > exclusiveMinimum && value <= maximum);
  return inRange && kindsOf(type).some((kind) => KINDS[kind]![1](value));
}

export const isDocument = (schema: string): boolean => Object.hasOwn(documents, schema);

/**
 * The document without fields that its schema does not have, if it is right; else an error of one line that names the file
 * and the place.
 */
export function checked<T>(name: string, document: unknown, schema: string): T {
  try {
    return read(parts[documents[schema]!]!, document, '') as T;
  } catch (error) {
    throw error instanceof Wrong ? new Error(`${name}: ${error.message.replaceAll(/\s+/g, ' ').slice(0, 300)}`) : error;
  }
}
