/** Every quantity that the page shows: its name, what it means, how its numbers are written. All views take them from here. */
import rows from './quantities.json';

export interface Quantity {
  /** Its name in the program's documents. */
  id: string;
  label: string;
  /** For axes and narrow columns. */
  short: string;
  about: string;
  kind: string;
  /** Which end is good. */
  better: 'low' | 'high' | null;
  /** Whether values are usually orders of magnitude apart. */
  logarithmic: boolean;
}

const BETTER: Record<string, Quantity['better']> = { less: 'low', more: 'high' };
const EPS = 'EPS';

/** A row of the program's, for an eps; the page names the cutoff once, beside the tables. */
function ofRow(row: (typeof rows)[number], eps = ''): Quantity {
  const [id, short, label, about] = [row.key, row.heading, row.label, row.about].map((text) =>
    text.replace(EPS, eps).replace(' CUTOFF', ''),
  );
  return {
    id: id!,
    short: short!,
    label: label!,
    about: about!,
    kind: row.unit,
    better: BETTER[row.better] ?? null,
    logarithmic: row.wide,
  };
}

const BY_ID = new Map(rows.map((row) => [row.key, ofRow(row)]));
const OF_EPS = rows.filter((row) => row.key.endsWith(EPS)).map((row) => [row.key.slice(0, -EPS.length), row] as const);

/** Whether a name is that of a row for some eps: averaged_mixing_time_tv_0.25 is none of averaged_mixing_time_EPS. */
const isOfEps = (id: string, begin: string): boolean => id.startsWith(begin) && Number.isFinite(Number.parseFloat(id.slice(begin.length)));

/** A quantity by its name in the documents; names that are not known are shown as they are. */
export function quantityOf(id: string): Quantity {
  const known = BY_ID.get(id);
  if (known) return known;
  const ofEps = OF_EPS.find(([begin]) => isOfEps(id, begin));
  if (ofEps) return ofRow(ofEps[1], id.slice(ofEps[0].length));
  const words = id.replaceAll('_', ' ');
  return { id, label: words, short: words, about: '', kind: 'ratio', better: null, logarithmic: false };
}

/** The place of a quantity among all, as tables have them; one that is not known comes last. */
export function placeOf(id: string): number {
  const place = rows.findIndex(({ key }) => key === id || (key.endsWith(EPS) && isOfEps(id, key.slice(0, -EPS.length))));
  return place < 0 ? rows.length : place;
}

/** The numbers over samples that a layer's heads have together, compared with each other. */
export const COMPARING = rows.filter(({ summarised, owner }) => summarised && owner === 'layer').map(({ key }) => key);

/** At most so many digits, without zeros at the end; small and large numbers with an exponent. */
export function digits(value: number, precision = 4): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(precision));
  if (size >= 1e-4 && size < 1e6) return String(rounded).replace('-', '−');
  return rounded.toExponential().replace('e+', 'e').replaceAll('-', '−');
}

/** A number for reading. `null` of steps is a time that is never reached; of other quantities, what does not exist. */
export function format(q: Quantity, value: number | null | undefined, precision = 4): string {
  if (value === undefined || (typeof value === 'number' && Number.isNaN(value))) return '–';
  if (value === null || value === Infinity) return q.kind === 'steps' ? 'never' : 'none';
  return digits(value, precision);
}

/** A mean and its spread: `0.0042 ± 0.0008`. */
export function formatSpread(q: Quantity, mean: number | null, spread: number | null, precision = 4): string {
  const text = format(q, mean, precision);
  return mean === null || spread === null || !Number.isFinite(spread) ? text : `${text} ± ${digits(spread, 2)}`;
}

/** A share as a percentage. */
export const percent = (share: number): string => `${digits(share * 100, 3)} %`;
