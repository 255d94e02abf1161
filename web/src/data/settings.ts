/** How the data were measured: what is computed in the page is measured in the same way, and the page says how. */
import type { Convention, EdgeKind, MeasureOptions, Settings } from '../core';
import { digits } from '../quantities';
import type { Session } from './session';

export interface Measurement {
  /** Its name, where the data have one. */
  convention: Convention | null;
  /** What the data say; nothing: the core's own defaults. */
  settings: Settings | null;
  /** For the core. */
  options: MeasureOptions;
  edges: EdgeKind;
}

/** Settings as the core takes them; every one of them is given, so that no default matters. */
export const optionsOf = (settings: Settings): MeasureOptions => ({
  normalization: settings.normalization,
  nodes: settings.fidelity_nodes,
  horizon: settings.horizon,
  eps: settings.eps,
  cutoff: settings.cutoff,
  step_limit: settings.step_limit ?? 0, // documents of version 0.1 have none
  ...(settings.backward && { backward: true }),
});

const measurement = (
  settings: Settings | undefined,
  convention: Convention | null,
  edges: EdgeKind = 'attention',
): Measurement => ({
  convention: settings ? convention : null,
  settings: settings ?? null,
  options: { ...(settings && optionsOf(settings)), ...(edges !== 'attention' && { edges }) },
  edges,
});

/** The edges that are measured: those that are chosen, if the attention has them, or those of the documents. */
export const edgesOf = ({ attention, analyze, heads }: Session, chosen: EdgeKind): EdgeKind =>
  attention ? (attention.edges?.includes(chosen) ? chosen : 'attention') : ((analyze ?? heads)?.edges ?? 'attention');

/** Of a session's attention; where it was measured by two conventions, the one that is chosen. */
export function measurementOf(session: Session, chosen: Convention, chosenEdges: EdgeKind = 'attention'): Measurement {
  const { analyze, heads, graph } = session;
  const edges = edgesOf(session, chosenEdges);
  if (analyze) {
    const of = analyze.conventions.find((one) => one.convention === chosen) ?? analyze.conventions[0];
    return measurement(of?.settings, of?.convention ?? null, edges);
  }
  return heads ? measurement(heads.settings, heads.convention, edges) : measurement(graph?.settings, null, edges);
}

/** Of a session's graph, and of those that are drawn after it. */
export const graphMeasurement = (session: Session): Measurement =>
  session.graph || session.graphText ? measurementOf(session, 'exact') : measurement(undefined, null);

/** Names what numbers depend on. */
export function settingsWords({ convention, settings, edges }: Measurement): string {
  if (!settings) return '';
  const horizon =
    typeof settings.horizon === 'number'
      ? `within ${settings.horizon} steps`
      : settings.step_limit
        ? `searched for at most ${settings.step_limit} steps`
        : 'certified';
  return [
    `Measured ${convention ? `by the ${convention} convention` : ''}`.trim(),
    ...(edges === 'attention' ? [] : [`${edges} edges`]),
    `${settings.normalization} walk`,
    `fidelity over ${settings.fidelity_nodes === 'all' ? 'all tokens' : 'the sources'}, ${horizon}`,
    `ε ${settings.eps.map((eps) => digits(eps)).join(', ')}`,
    `hitting times cut at ${settings.cutoff} steps.`,
  ].join(', ');
}
