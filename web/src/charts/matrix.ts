import { rgb } from 'd3-color';
import { select } from 'd3-selection';
import { zoom, zoomIdentity, type ZoomTransform } from 'd3-zoom';
import { fill, h, s } from '../dom';
import { digits } from '../quantities';
import { currentTheme, type Theme } from '../theme';
import { drawing } from './frame';
import { pyramid, valueOf, type Colours, type Level } from './pyramid';

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

/** A causal matrix on a canvas: wheel, drag and pinch, or the keys, move through it. */
export function matrixView(label: string): MatrixView {
  const canvas = h('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'zoomable matrix',
    'aria-label': label,
  });
  const readout = h('output', { class: 'matrix-readout' });
  const help = h(
    'p',
    { class: 'matrix-help' },
    'Wheel or pinch zooms, dragging moves. Keys: arrows go from entry to entry, + and − zoom, 0 shows all.',
  );
  const key = h('div', { class: 'matrix-key' });
  const element: MatrixView['element'] = h('div', { class: 'matrix' }, canvas, key, readout, help);
  let mode: Colours = 'root';
  const drawKey = () => fill(key, largest > 0 ? colourScale(largest, mode, currentTheme()) : null);
  const sheet = document.createElement('canvas');
  const ink = sheet.getContext('2d')!;
  let levels: Level[] = [];
  let largest = 0;
  let data: MatrixData = { nodes: 0, values: new Float64Array() };
  let name = String as (token: number) => string;
  let marked: number | null = null;
  let side = 0;
  let pixels = 1;
  let transform: ZoomTransform = zoomIdentity;
  let at: { row: number; column: number } | null = null;
  let image: ImageData | null = null;
  let palette: { theme: Theme; colours: Uint32Array } | null = null;
  let waiting = 0;

  const table = (): { theme: Theme; colours: Uint32Array } => {
    if (palette) return palette;
    const theme = currentTheme();
    const colours = new Uint32Array(256);
    for (let i = 1; i < 256; ++i) {
      const { r, g, b } = rgb(theme.ramp((i - 1) / 254));
      colours[i] = (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
    }
    return (palette = { theme, colours });
  };

  /** Screen units of one entry. */
  const unit = () => (side / data.nodes) * transform.k;

  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .on('zoom', (event: { transform: ZoomTransform }) => {
      transform = event.transform;
      ask();
    })
    .filter((event: Event) => !(event as MouseEvent).button);
  const selection = select<HTMLCanvasElement, unknown>(canvas).call(behaviour);

  const ask = () => {
    if (!waiting) waiting = requestAnimationFrame(paint);
  };

  function layout(): void {
    const width = element.clientWidth;
    if (width === 0) return;
    side = Math.max(120, Math.min(width - LEFT - 8, 900, Math.max(320, innerHeight - 220)));
    pixels = Math.min(devicePixelRatio || 1, 2);
    canvas.style.width = `${side + LEFT + 8}px`;
    canvas.style.height = `${side + TOP + 6}px`;
    canvas.width = Math.round((side + LEFT + 8) * pixels);
    canvas.height = Math.round((side + TOP + 6) * pixels);
    behaviour
      .extent([
        [LEFT, TOP],
        [LEFT + side, TOP + side],
      ])
      .translateExtent([
        [LEFT, TOP],
        [LEFT + side, TOP + side],
      ])
      .scaleExtent([1, Math.max(1, data.nodes / 6)]);
    paint();
  }

  /** Draws what is in sight. */
  function paint(): void {
    cancelAnimationFrame(waiting);
    waiting = 0;
    const context = canvas.getContext('2d')!;
    context.setTransform(pixels, 0, 0, pixels, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const { theme, colours } = table();
    if (data.nodes === 0 || side === 0) return;
    const cell = unit();
    const level = Math.min(levels.length - 1, Math.max(0, Math.ceil(Math.log2(1 / cell) - 1e-9)));
    const { size, shades } = levels[level]!;
    const step = cell * 2 ** level;
    const [x0, y0] = [transform.applyX(LEFT), transform.applyY(TOP)];
    const first = (offset: number, edge: number) => Math.max(0, Math.floor((edge - offset) / step));
    const last = (offset: number, edge: number) => Math.min(size, Math.ceil((edge + side - offset) / step));
    const [c0, c1, r0, r1] = [first(x0, LEFT), last(x0, LEFT), first(y0, TOP), last(y0, TOP)];
    const [w, t] = [c1 - c0, r1 - r0];
    if (w > 0 && t > 0) {
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
      context.strokeStyle = theme.line;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x0 + data.nodes * cell, y0 + data.nodes * cell);
      context.stroke();
      if (at) {
        context.strokeStyle = theme.warm;
        context.lineWidth = 1.5;
        context.strokeRect(x0 + at.column * cell, y0 + at.row * cell, Math.max(2, cell), Math.max(2, cell));
        context.globalAlpha = 0.35;
        context.strokeRect(LEFT - 2, y0 + at.row * cell, side + 4, Math.max(1, cell));
        context.strokeRect(x0 + at.column * cell, TOP - 2, Math.max(1, cell), side + 4);
      }
      context.restore();
    }
    axes(context, theme, x0, y0, cell);
  }

  /** Every so manyth token that has room for its name. */
  const visible = (offset: number, edge: number, cell: number, room: number) => {
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((e) => e * cell >= room) ?? data.nodes;
    const from = Math.max(0, Math.ceil((edge - offset - cell / 2) / cell / every) * every);
    const list: number[] = [];
    for (let i = from; i < data.nodes && offset + (i + 0.5) * cell <= edge + side; i += every) list.push(i);
    return list;
  };

  const shorten = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

  function axes(context: CanvasRenderingContext2D, theme: Theme, x0: number, y0: number, cell: number): void {
    context.font = `${Math.max(11, 0.7 * parseFloat(getComputedStyle(document.documentElement).fontSize))}px ${theme.font}`;
    context.fillStyle = theme.muted;
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (const i of visible(y0, TOP, cell, 14)) context.fillText(shorten(name(i), 8), LEFT - 8, y0 + (i + 0.5) * cell);
    context.textAlign = 'center';
    for (const i of visible(x0, LEFT, cell, 44)) context.fillText(shorten(name(i), 7), x0 + (i + 0.5) * cell, TOP - 10);
    if (marked !== null) {
      const x = x0 + (marked + 0.5) * cell;
      if (x >= LEFT && x <= LEFT + side) {
        context.fillStyle = theme.warm;
        context.beginPath();
        context.moveTo(x, TOP);
        context.lineTo(x - 5, TOP - 7);
        context.lineTo(x + 5, TOP - 7);
        context.fill();
      }
    }
  }

  const value = (row: number, column: number) => data.values[row * data.nodes + column]!;
  const words = (row: number, column: number) =>
    `query ${name(row)}, key ${name(column)}: ${column > row ? 'not seen (later)' : digits(value(row, column), 5)}`;

  function point(row: number, column: number): void {
    const inside = row >= 0 && column >= 0 && row < data.nodes && column < data.nodes;
    at = inside ? { row, column } : null;
    readout.textContent = inside ? words(row, column) : '';
    ask();
  }

  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const cell = unit();
    point(Math.floor((y - transform.applyY(TOP)) / cell), Math.floor((x - transform.applyX(LEFT)) / cell));
  });
  canvas.addEventListener('pointerleave', () => point(-1, -1));
  canvas.addEventListener('keydown', (event) => {
    const far = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -far],
      ArrowRight: [0, far],
      ArrowUp: [-far, 0],
      ArrowDown: [far, 0],
    };
    const last = data.nodes - 1;
    const move = moves[event.key];
    if (move) {
      const from = at ?? { row: last, column: last };
      const row = Math.max(0, Math.min(last, from.row + move[0]));
      point(row, Math.max(0, Math.min(row, from.column + move[1])));
      follow();
    } else if (event.key === '+' || event.key === '=') selection.call(behaviour.scaleBy, 1.6, centre());
    else if (event.key === '-' || event.key === '−') selection.call(behaviour.scaleBy, 1 / 1.6, centre());
    else if (event.key === '0') selection.call(behaviour.transform, zoomIdentity);
    else return;
    event.preventDefault();
  });

  const centre = (): [number, number] => {
    const cell = unit();
    return at
      ? [transform.applyX(LEFT) + (at.column + 0.5) * cell, transform.applyY(TOP) + (at.row + 0.5) * cell]
      : [LEFT + side / 2, TOP + side / 2];
  };

  /** Brings the entry that is pointed at into sight. */
  function follow(): void {
    const [x, y] = centre();
    const over = (v: number, edge: number) => Math.min(0, v - edge - 10) + Math.max(0, v - edge - side + 10);
    const [dx, dy] = [over(x, LEFT), over(y, TOP)];
    if (dx || dy) selection.call(behaviour.translateBy, -dx / transform.k, -dy / transform.k);
  }

  element.redraw = () => {
    palette = null;
    drawKey();
    layout();
  };
  new ResizeObserver(() => layout()).observe(element);

  return {
    element,
    wait() {
      readout.textContent = 'Reading the matrix…';
    },
    show(next, colours, names, weakest) {
      if (readout.textContent === 'Reading the matrix…') readout.textContent = '';
      mode = colours;
      const other = next.nodes !== data.nodes;
      data = next;
      name = names;
      marked = weakest;
      ({ levels, largest } = pyramid(next.nodes, next.values, colours));
      drawKey();
      if (other) {
        at = null;
        readout.textContent = '';
        selection.call(behaviour.transform, zoomIdentity);
      }
      layout();
    },
    draw(width, theme) {
      paint();
      const full = side + LEFT + 8;
      const scale = Math.min(1, width / full);
      const svg = drawing(full * scale, (side + TOP + 34) * scale, label, theme);
      const picture = document.createElement('canvas');
      picture.width = Math.round(side * pixels);
      picture.height = Math.round(side * pixels);
      picture.getContext('2d')!.drawImage(canvas, -LEFT * pixels, -TOP * pixels);
      const [x0, y0, cell] = [transform.applyX(LEFT), transform.applyY(TOP), unit()];
      svg.append(
        s(
          'g',
          { transform: `scale(${scale})` },
          s('image', { href: picture.toDataURL('image/png'), x: LEFT, y: TOP, width: side, height: side }),
          ...visible(y0, TOP, cell, 14).map((i) =>
            s(
              'text',
              { x: LEFT - 8, y: y0 + (i + 0.5) * cell, dy: '0.35em', 'text-anchor': 'end', fill: theme.muted, 'font-size': 11 },
              shorten(name(i), 8),
            ),
          ),
          ...visible(x0, LEFT, cell, 44).map((i) =>
            s(
              'text',
              { x: x0 + (i + 0.5) * cell, y: TOP - 8, 'text-anchor': 'middle', fill: theme.muted, 'font-size': 11 },
              shorten(name(i), 7),
            ),
          ),
          s(
            'text',
            { x: LEFT, y: TOP + side + 20, fill: theme.muted, 'font-size': 11 },
            `rows: queries, columns: keys; ${mode} colours up to ${digits(largest)}`,
          ),
        ),
      );
      return svg;
    },
    zoomTo: (tokens) =>
      selection.call(
        behaviour.transform,
        zoomIdentity
          .translate(LEFT + side / 2, TOP + side / 2)
          .scale(data.nodes / tokens)
          .translate(-LEFT - side / 2, -TOP - side / 2),
      ),
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
  const colours = Array.from({ length: 256 }, (_, i) => {
    const { r, g, b } = rgb(theme.ramp((i - 1) / 254));
    return i === 0 ? 0 : ((255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
  });
  shades.forEach((shade, k) => (out[k] = colours[shade]!));
  canvas.getContext('2d')!.putImageData(image, 0, 0);
}
