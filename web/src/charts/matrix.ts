import { rgb } from 'd3-color';
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomTransform } from 'd3-zoom';
import { fill, h, s } from '../dom';
import { digits } from '../quantities';
import { currentTheme, type Theme } from '../theme';
import { div } from '../ui/parts';
import { drawing } from './frame';
import { pyramid, valueOf, type Colours, type Level } from './pyramid';
import { shorten } from './text';

export interface MatrixData {
  nodes: number;
  /** Row (the query) after row. */
  values: Float64Array;
}

export interface MatrixView {
  element: HTMLElement & { redraw?: () => void };
  /** Says that a matrix is on its way. */
  wait(): void;
  show(data: MatrixData, colours: Colours, name: (token: number) => string, marked: number | null): void;
  draw(width: number, theme: Theme): SVGSVGElement;
  /** Zooms so that so many tokens are across, around the middle. */
  zoomTo(tokens: number): void;
}

const LEFT = 62;
const TOP = 26;

/** What is shown, and where. */
interface Scene {
  data: MatrixData;
  levels: Level[];
  largest: number;
  mode: Colours;
  name: (token: number) => string;
  marked: number | null;
  /** The length of a side on the screen, and pixels of a unit there. */
  side: number;
  pixels: number;
  transform: ZoomTransform;
  /** The entry that is pointed at. */
  at: { row: number; column: number } | null;
}

const emptyScene = (): Scene => ({
  data: { nodes: 0, values: new Float64Array() },
  levels: [],
  largest: 0,
  mode: 'root',
  name: String,
  marked: null,
  side: 0,
  pixels: 1,
  transform: zoomIdentity,
  at: null,
});

/** Where the matrix begins on the screen, and units of one entry. */
const placed = ({ data, side, transform }: Scene) => ({
  x0: transform.applyX(LEFT),
  y0: transform.applyY(TOP),
  cell: (side / data.nodes) * transform.k,
});

/** The entry that is pointed at on the screen, or else the middle. */
function centre(scene: Scene): [number, number] {
  const { x0, y0, cell } = placed(scene);
  return scene.at
    ? [x0 + (scene.at.column + 0.5) * cell, y0 + (scene.at.row + 0.5) * cell]
    : [LEFT + scene.side / 2, TOP + scene.side / 2];
}

/** Every so manyth token that has room for its name: where it is, and the name. */
function namesAlong(scene: Scene, offset: number, edge: number, room: number, length: number): { at: number; text: string }[] {
  const { nodes } = scene.data;
  const { cell } = placed(scene);
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((e) => e * cell >= room) ?? nodes;
  const from = Math.max(0, Math.ceil((edge - offset - cell / 2) / cell / every) * every);
  const list: { at: number; text: string }[] = [];
  for (let i = from; i < nodes && offset + (i + 0.5) * cell <= edge + scene.side; i += every)
    list.push({ at: offset + (i + 0.5) * cell, text: shorten(scene.name(i), length) });
  return list;
}

const rowNames = (scene: Scene) => namesAlong(scene, placed(scene).y0, TOP, 14, 8);
const columnNames = (scene: Scene) => namesAlong(scene, placed(scene).x0, LEFT, 44, 7);

/** The colours of the shades, as pixels. Shade 0 is empty. */
function shadeColours(theme: Theme): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const { r, g, b } = rgb(theme.ramp((i - 1) / 254));
    return i === 0 ? 0 : (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
  });
}

/** Paints the entries in sight, and over them what is marked. */
function entryPainter() {
  const sheet = document.createElement('canvas');
  const ink = sheet.getContext('2d')!;
  let image: ImageData | null = null;
  return (context: CanvasRenderingContext2D, scene: Scene, theme: Theme, colours: Uint32Array) => {
    const { levels, side } = scene;
    const { x0, y0, cell } = placed(scene);
    const level = Math.min(levels.length - 1, Math.max(0, Math.ceil(Math.log2(1 / cell) - 1e-9)));
    const { size, shades } = levels[level]!;
    const step = cell * 2 ** level;
    const first = (offset: number, edge: number) => Math.max(0, Math.floor((edge - offset) / step));
    const last = (offset: number, edge: number) => Math.min(size, Math.ceil((edge + side - offset) / step));
    const [c0, c1, r0, r1] = [first(x0, LEFT), last(x0, LEFT), first(y0, TOP), last(y0, TOP)];
    const [w, t] = [c1 - c0, r1 - r0];
    if (w <= 0 || t <= 0) return;
    if (!image || image.width !== w || image.height !== t) {
      image = new ImageData(w, t);
      sheet.width = w;
      sheet.height = t;
    }
    const out = new Uint32Array(image.data.buffer);
    for (let r = 0, k = 0; r < t; ++r) {
      const row = (r0 + r) * size + c0;
      for (let c = 0; c < w; ++c) out[k++] = colours[shades[row + c]!]!;
    }
    ink.putImageData(image, 0, 0);
    context.save();
    context.beginPath();
    context.rect(LEFT, TOP, side, side);
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(sheet, x0 + c0 * step, y0 + r0 * step, w * step, t * step);
    paintMarks(context, scene, theme);
    context.restore();
  };
}

/** The diagonal, and the entry that is pointed at. */
function paintMarks(context: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
  const { x0, y0, cell } = placed(scene);
  const { at, data, side } = scene;
  context.strokeStyle = theme.line;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x0 + data.nodes * cell, y0 + data.nodes * cell);
  context.stroke();
  if (!at) return;
  context.strokeStyle = theme.warm;
  context.lineWidth = 1.5;
  context.strokeRect(x0 + at.column * cell, y0 + at.row * cell, Math.max(2, cell), Math.max(2, cell));
  context.globalAlpha = 0.35;
  context.strokeRect(LEFT - 2, y0 + at.row * cell, side + 4, Math.max(1, cell));
  context.strokeRect(x0 + at.column * cell, TOP - 2, Math.max(1, cell), side + 4);
}

function paintAxes(context: CanvasRenderingContext2D, scene: Scene, theme: Theme): void {
  context.font = `${Math.max(11, 0.7 * parseFloat(getComputedStyle(document.documentElement).fontSize))}px ${theme.font}`;
  context.fillStyle = theme.muted;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const { at, text } of rowNames(scene)) context.fillText(text, LEFT - 8, at);
  context.textAlign = 'center';
  for (const { at, text } of columnNames(scene)) context.fillText(text, at, TOP - 10);
  if (scene.marked === null) return;
  const { x0, cell } = placed(scene);
  const x = x0 + (scene.marked + 0.5) * cell;
  if (x < LEFT || x > LEFT + scene.side) return;
  context.fillStyle = theme.warm;
  context.beginPath();
  context.moveTo(x, TOP);
  context.lineTo(x - 5, TOP - 7);
  context.lineTo(x + 5, TOP - 7);
  context.fill();
}

/** What the canvas shows as a drawing, so wide. */
function picture(canvas: HTMLCanvasElement, scene: Scene, label: string, width: number, theme: Theme): SVGSVGElement {
  const { side, pixels } = scene;
  const full = side + LEFT + 8;
  const scale = Math.min(1, width / full);
  const entries = document.createElement('canvas');
  entries.width = Math.round(side * pixels);
  entries.height = Math.round(side * pixels);
  entries.getContext('2d')!.drawImage(canvas, -LEFT * pixels, -TOP * pixels);
  const small = { fill: theme.muted, 'font-size': 11 };
  const svg = drawing(full * scale, (side + TOP + 34) * scale, label, theme);
  svg.append(
    s(
      'g',
      { transform: `scale(${scale})` },
      s('image', { href: entries.toDataURL('image/png'), x: LEFT, y: TOP, width: side, height: side }),
      rowNames(scene).map(({ at, text }) =>
        s('text', { x: LEFT - 8, y: at, dy: '0.35em', 'text-anchor': 'end', ...small }, text),
      ),
      columnNames(scene).map(({ at, text }) => s('text', { x: at, y: TOP - 8, 'text-anchor': 'middle', ...small }, text)),
      s(
        'text',
        { x: LEFT, y: TOP + side + 20, ...small },
        `rows: queries, columns: keys; ${scene.mode} colours up to ${digits(scene.largest)}`,
      ),
    ),
  );
  return svg;
}

/** Moves through the matrix; `ask` has it painted. */
function zooming(canvas: HTMLCanvasElement, scene: Scene, ask: () => void) {
  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .on('zoom', (event: { transform: ZoomTransform }) => {
      scene.transform = event.transform;
      ask();
    })
    .filter((event: Event) => !(event as MouseEvent).button);
  const selection = select<HTMLCanvasElement, unknown>(canvas).call(behaviour);
  return {
    /** To the size of the matrix on the screen. */
    fit() {
      const extent: [[number, number], [number, number]] = [
        [LEFT, TOP],
        [LEFT + scene.side, TOP + scene.side],
      ];
      behaviour
        .extent(extent)
        .translateExtent(extent)
        .scaleExtent([1, Math.max(1, scene.data.nodes / 6)]);
    },
    by: (factor: number) => selection.call(behaviour.scaleBy, factor, centre(scene)),
    all: () => selection.call(behaviour.transform, zoomIdentity),
    to(tokens: number) {
      const [x, y] = [LEFT + scene.side / 2, TOP + scene.side / 2];
      const scale = scene.data.nodes / tokens;
      selection.call(behaviour.transform, zoomIdentity.translate(x, y).scale(scale).translate(-x, -y));
    },
    /** Brings the entry that is pointed at into sight. */
    follow() {
      const [x, y] = centre(scene);
      const over = (v: number, edge: number) => Math.min(0, v - edge - 10) + Math.max(0, v - edge - scene.side + 10);
      const [dx, dy] = [over(x, LEFT), over(y, TOP)];
      if (dx || dy) selection.call(behaviour.translateBy, -dx / scene.transform.k, -dy / scene.transform.k);
    },
  };
}

/** The pointer and the keys go from entry to entry. */
function listen(
  canvas: HTMLCanvasElement,
  scene: Scene,
  move: ReturnType<typeof zooming>,
  point: (row: number, column: number) => void,
): void {
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const { x0, y0, cell } = placed(scene);
    point(Math.floor((event.clientY - box.top - y0) / cell), Math.floor((event.clientX - box.left - x0) / cell));
  });
  canvas.addEventListener('pointerleave', () => point(-1, -1));
  canvas.addEventListener('keydown', (event) => {
    const far = event.shiftKey ? 10 : 1;
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [0, -far],
      ArrowRight: [0, far],
      ArrowUp: [-far, 0],
      ArrowDown: [far, 0],
    };
    const last = scene.data.nodes - 1;
    const step = steps[event.key];
    if (step) {
      const from = scene.at ?? { row: last, column: last };
      const row = Math.max(0, Math.min(last, from.row + step[0]));
      point(row, Math.max(0, Math.min(row, from.column + step[1])));
      move.follow();
    } else if (event.key === '+' || event.key === '=') move.by(1.6);
    else if (event.key === '-' || event.key === '−') move.by(1 / 1.6);
    else if (event.key === '0') move.all();
    else return;
    event.preventDefault();
  });
}

/** Gives the canvas the size that there is room for. */
function resize(canvas: HTMLCanvasElement, scene: Scene, width: number): void {
  const side = Math.max(120, Math.min(width - LEFT - 8, 900, Math.max(320, innerHeight - 220)));
  const pixels = Math.min(devicePixelRatio || 1, 2);
  const [wide, tall] = [side + LEFT + 8, side + TOP + 6];
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${tall}px`;
  canvas.width = Math.round(wide * pixels);
  canvas.height = Math.round(tall * pixels);
  Object.assign(scene, { side, pixels });
}

/** The canvas, what paints it, and what has it painted soon. */
function painting(label: string, scene: Scene) {
  const canvas = h('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'zoomable matrix',
    'aria-label': label,
  });
  const paintEntries = entryPainter();
  let palette: { theme: Theme; colours: Uint32Array } | null = null;
  let waiting = 0;
  const paint = () => {
    cancelAnimationFrame(waiting);
    waiting = 0;
    const context = canvas.getContext('2d')!;
    context.setTransform(scene.pixels, 0, 0, scene.pixels, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (scene.data.nodes === 0 || scene.side === 0) return;
    const theme = palette?.theme ?? currentTheme();
    palette ??= { theme, colours: shadeColours(theme) };
    paintEntries(context, scene, theme, palette.colours);
    paintAxes(context, scene, theme);
  };
  const ask = () => {
    if (!waiting) waiting = requestAnimationFrame(paint);
  };
  /** The theme has changed. */
  const forget = () => {
    palette = null;
  };
  return { canvas, paint, ask, forget };
}

const WAITING = 'Reading the matrix…';

/** A causal matrix on a canvas: wheel, drag and pinch, or the keys, move through it. */
export function matrixView(label: string): MatrixView {
  const scene = emptyScene();
  const { canvas, paint, ask, forget } = painting(label, scene);
  const readout = h('output', { class: 'matrix-readout' });
  const key = div('matrix-key');
  const help = h(
    'p',
    { class: 'matrix-help' },
    'Wheel or pinch: zoom. Drag: move. Keys: arrows select an entry, + and − zoom, 0 shows the whole matrix.',
  );
  const element: MatrixView['element'] = div('matrix', canvas, key, readout, help);
  const move = zooming(canvas, scene, ask);
  const drawKey = () => fill(key, scene.largest > 0 ? colourScale(scene.largest, scene.mode, currentTheme()) : null);
  const layout = () => {
    if (element.clientWidth === 0) return;
    resize(canvas, scene, element.clientWidth);
    move.fit();
    paint();
  };
  const words = (row: number, column: number) => {
    const { data, name } = scene;
    const value = column > row ? 'masked (the key is later)' : digits(data.values[row * data.nodes + column]!, 5);
    return `query ${name(row)}, key ${name(column)}: ${value}`;
  };
  listen(canvas, scene, move, (row, column) => {
    const { nodes } = scene.data;
    const inside = row >= 0 && column >= 0 && row < nodes && column < nodes;
    scene.at = inside ? { row, column } : null;
    readout.textContent = inside ? words(row, column) : '';
    ask();
  });
  element.redraw = () => {
    forget();
    drawKey();
    layout();
  };
  new ResizeObserver(layout).observe(element);
  return {
    element,
    wait() {
      readout.textContent = WAITING;
    },
    show(data, mode, name, marked) {
      const other = data.nodes !== scene.data.nodes;
      Object.assign(scene, { data, mode, name, marked }, pyramid(data.nodes, data.values, mode));
      drawKey();
      if (other || readout.textContent === WAITING) readout.textContent = '';
      if (other) {
        scene.at = null;
        move.all();
      }
      layout();
    },
    draw(width, theme) {
      paint();
      return picture(canvas, scene, label, width, theme);
    },
    zoomTo: move.to,
  };
}

/** Which colour stands for which entry. */
function colourScale(largest: number, colours: Colours, theme: Theme): SVGSVGElement {
  const [long, marks] = [240, [0, 0.25, 0.5, 0.75, 1]];
  const value = (shade: number) => digits(valueOf(shade, largest, colours), 2);
  return s(
    'svg',
    {
      viewBox: `0 0 ${long + 60} 26`,
      width: long + 60,
      role: 'img',
      'aria-label': `Colours: ${marks.map(value).join(', ')}`,
      'font-size': 11,
      'font-family': theme.font,
      fill: theme.muted,
    },
    ...Array.from({ length: 48 }, (_, i) =>
      s('rect', { x: 30 + (i * long) / 48, y: 0, width: long / 48 + 0.5, height: 9, fill: theme.ramp(i / 47) }),
    ),
    ...marks.map((shade) => s('text', { x: 30 + shade * long, y: 22, 'text-anchor': 'middle' }, value(shade))),
  );
}

/** A small picture of a causal matrix. */
export function thumbnail(canvas: HTMLCanvasElement, data: MatrixData, theme: Theme, shading: Colours): void {
  const { levels } = pyramid(data.nodes, data.values, shading);
  const { size, shades } = levels.at(-1)!;
  canvas.width = size;
  canvas.height = size;
  const image = new ImageData(size, size);
  const out = new Uint32Array(image.data.buffer);
  const colours = shadeColours(theme);
  shades.forEach((shade, k) => (out[k] = colours[shade]!));
  canvas.getContext('2d')!.putImageData(image, 0, 0);
}
