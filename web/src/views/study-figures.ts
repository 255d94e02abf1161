/** The figures of a study: a quantity by layer and number of heads, and of every model. */
import { heatmap } from '../charts/heatmap';
import { lines, type Series } from '../charts/lines';
import { valueScale } from '../charts/scale';
import type { Cell } from '../core';
import { comparable, printed } from '../data/published';
import type { Session } from '../data/session';
import { digits, format, quantityOf } from '../quantities';
import type { Theme } from '../theme';
import { figure, type Figure } from '../ui/figure';
import { tipLine } from '../ui/tooltip';
import { cellsTable, courseTable, layerName, layersOf, meanOf, summariesOf, summaryAt, type Chosen } from './study-tables';

const headWords = (heads: number) => `${heads} ${heads === 1 ? 'head' : 'heads'}`;

/** For every task: the course along the layers, and a map of all models. `chosen` says what they show. */
export function studyFigures(session: Session, chosen: () => Chosen): { list: Figure[]; update(): void } {
  const study = session.study!;
  const { tasks, samples } = study.settings;
  const courses = tasks.map((task) =>
    figure({
      name: `study-${task}`,
      title: '',
      draw: (width, theme) => drawCourse(session, task, chosen(), width, theme),
      table: () => courseTable(study, task, chosen()),
    }),
  );
  const maps = tasks.map((task) =>
    figure({
      name: `cells-${task}`,
      title: '',
      draw: (width, theme) => drawModels(session, task, chosen(), width, theme),
      table: () => cellsTable(study, task, chosen()),
    }),
  );
  const list = [...courses, ...maps];
  return {
    list,
    update() {
      const { label, about } = quantityOf(chosen().quantity);
      tasks.forEach((task, i) => {
        courses[i]!.title(`${label}: ${task}, ${chosen().convention} convention`);
        courses[i]!.caption(`${courseWords(study.findings.seeds)}${paperWords(session, chosen())}.`);
        maps[i]!.title(`Every model: ${task}`);
        maps[i]!.caption(about ? `${about[0]!.toUpperCase()}${about.slice(1)}. Mean over ${samples} sequences.` : null);
      });
      for (const one of list) one.redraw();
    },
  };
}

const courseWords = (seeds: number) =>
  seeds === 1 ? 'Values of one seed' : `Means over ${seeds} seeds. Bars: 95 % interval of the mean; small dots: single seeds`;

/** Says which marks are the paper's values. */
function paperWords({ published }: Session, { quantity, convention }: Chosen): string {
  if (!published.some((one) => one.quantity === quantity)) return '';
  return comparable(quantity, convention) ? '; diamonds: the paper' : '. The paper’s times use the published convention';
}

/** The series of one number of heads: every seed, the mean with its interval, the paper's values. */
function headSeries(session: Session, task: string, chosen: Chosen, i: number, theme: Theme): Series[] {
  const { settings } = session.study!;
  const heads = settings.heads[i]!;
  const rows = summariesOf(session.study!, task, chosen)
    .filter((one) => one.heads === heads)
    .sort((a, b) => a.layer - b.layer);
  if (rows.length === 0) return [];
  const shift = 9 * (i - (settings.heads.length - 1) / 2);
  const style = { colour: theme.series[i % theme.series.length]!, shift };
  const marks = { ...style, faint: true, line: false };
  const floor = quantityOf(chosen.quantity).kind === 'change' ? -Infinity : 0;
  const paper = printed(session.published, { task, heads, ...chosen });
  const seeds = rows.flatMap((one) => one.values.map((y) => ({ x: one.layer, y })));
  return [
    { ...marks, name: '', marks: 'dots', opacity: 0.5, points: seeds },
    {
      ...style,
      name: headWords(heads),
      bars: true,
      marks: 'dots',
      dash: ['', '7 3', '2 3', '9 3 2 3'][i % 4]!,
      points: rows.map((one) => ({ x: one.layer, y: one.mean.estimate })),
      band: rows.flatMap(({ layer, mean: { low, high } }) =>
        low === null || high === null ? [] : [{ x: layer, low: Math.max(floor, low), high }],
      ),
    },
    {
      ...marks,
      name: `the paper, ${heads}`,
      marks: 'diamonds',
      points: paper.map((one) => ({ x: one.layer, y: one.mean })),
    },
  ];
}

function drawCourse(session: Session, task: string, chosen: Chosen, width: number, theme: Theme): SVGSVGElement {
  const q = quantityOf(chosen.quantity);
  const layers = summariesOf(session.study!, task, chosen).map((one) => one.layer);
  return lines(
    {
      label: `${q.label} by layer, ${task}`,
      xTitle: 'layer',
      yTitle: q.kind === 'steps' ? `${q.short}, steps` : q.short,
      height: 330,
      series: session.study!.settings.heads.flatMap((_, i) => headSeries(session, task, chosen, i, theme)),
      logarithmic: q.logarithmic,
      xNames: ['', ...[...new Set(layers)].map(layerName)],
      yFormat: (v) => format(q, v),
    },
    width,
    theme,
  );
}

function drawModels(session: Session, task: string, chosen: Chosen, width: number, theme: Theme): SVGSVGElement {
  const study = session.study!;
  const q = quantityOf(chosen.quantity);
  const models = study.cells.filter((one) => one.task === task);
  const layers = [...Array(layersOf(study, chosen)).keys()];
  const value = (model: Cell, layer: number) => summaryAt(model[chosen.convention][layer], chosen.quantity);
  const values = models.flatMap((one) => layers.map((l) => meanOf(value(one, l)))).filter((v) => v !== undefined);
  const scale = valueScale(values, q.logarithmic, 0, 1000);
  const finite = values.filter((v): v is number => v !== null);
  const rows = models.map((one) => `${headWords(one.heads)}, seed ${one.seed}`);
  return heatmap(
    {
      label: `${q.label} of every model`,
      rows,
      columns: layers.map((l) => layerName(l + 1)),
      rowTitle: 'model',
      columnTitle: 'layer',
      largest: 110,
      legend:
        finite.length > 0
          ? [format(q, Math.min(...finite), 2), format(q, values.includes(null) ? null : Math.max(...finite), 2)]
          : [],
      cell: (r, c) => {
        const summary = value(models[r]!, c);
        if (!summary) return null;
        const mean = meanOf(summary)!;
        return {
          shade: 0.06 + (0.94 * scale.place(mean)) / 1000,
          text: format(q, mean, 3),
          label: `${rows[r]}, layer ${layerName(c + 1)}: ${format(q, mean)}`,
          tip: () => [
            tipLine(rows[r]!, `layer ${layerName(c + 1)}`),
            tipLine(q.label, format(q, mean)),
            tipLine('standard deviation', summary.std === null ? '–' : digits(summary.std, 3)),
            tipLine('least, largest', `${format(q, summary.min)}, ${format(q, summary.max)}`),
          ],
        };
      },
    },
    width,
    theme,
  );
}
