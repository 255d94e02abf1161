/** Colours of figures. They are said in style.css; figures take them from there, so that a saved figure looks like the page. */
import { hsl } from 'd3-color';
import { interpolateRgbBasis } from 'd3-interpolate';

export interface Theme {
  dark: boolean;
  surface: string;
  ink: string;
  muted: string;
  line: string;
  grid: string;
  accent: string;
  warm: string;
  cool: string;
  series: string[];
  font: string;
  /** From nothing (0) to all (1). */
  ramp(share: number): string;
  /** From redundant (-1) over nothing (0) to complementary (1). */
  diverging(value: number): string;
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `--${prefix}-${i}`);

/** The colours in use. */
export function currentTheme(root: HTMLElement = document.documentElement): Theme {
  const style = getComputedStyle(root);
  const get = (name: string) => style.getPropertyValue(name).trim();
  const ramp = interpolateRgbBasis(names('ramp', 6).map(get));
  const below = interpolateRgbBasis([get('--neutral'), get('--warm-soft'), get('--warm')]);
  const above = interpolateRgbBasis([get('--neutral'), get('--cool-soft'), get('--cool')]);
  return {
    dark: root.dataset['theme'] === 'dark',
    surface: get('--surface'),
    ink: get('--ink'),
    muted: get('--muted'),
    line: get('--line'),
    grid: get('--grid'),
    accent: get('--accent'),
    warm: get('--warm'),
    cool: get('--cool'),
    series: names('series', 8).map(get),
    font: get('--font'),
    ramp: (share) => ramp(Math.min(1, Math.max(0, share))),
    diverging: (value) => (value < 0 ? below(Math.min(1, -value)) : above(Math.min(1, value))),
  };
}

/** Black or white, whichever is easier to read on a colour. */
export function inkOn(colour: string): string {
  const { r, g, b } = hsl(colour).rgb();
  const linear = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
  return luminance > 0.18 ? '#101318' : '#ffffff';
}

export type ThemeChoice = 'auto' | 'light' | 'dark';

/** Which theme is on: the reader's choice, else the system's; paper is light. */
export class Themes {
  private choice: ThemeChoice = 'auto';
  private printing = false;
  private readonly system = matchMedia('(prefers-color-scheme: dark)');
  private readonly listeners = new Set<() => void>();

  constructor() {
    this.system.addEventListener('change', () => this.apply());
    const print = (printing: boolean) => () => {
      this.printing = printing;
      this.apply();
    };
    addEventListener('beforeprint', print(true));
    addEventListener('afterprint', print(false));
    this.apply();
  }

  get(): ThemeChoice {
    return this.choice;
  }

  set(choice: ThemeChoice): void {
    this.choice = choice;
    this.apply();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private apply(): void {
    const dark = !this.printing && (this.choice === 'auto' ? this.system.matches : this.choice === 'dark');
    const theme = dark ? 'dark' : 'light';
    if (document.documentElement.dataset['theme'] === theme) return;
    document.documentElement.dataset['theme'] = theme;
    for (const listener of this.listeners) listener();
  }
}
