/** What an address asks for that is not there. */
import { unreadable, type State } from '../state';
import { hasMean } from './selection';
import type { Session } from './session';

export function addressProblems(hash: string, state: State, session: Session): string[] {
  const problems = unreadable(hash);
  const { attention } = session;
  if (!attention || (state.view !== 'layer' && state.view !== 'mixer')) return problems;
  const layer = attention.layers.find(({ index }) => index === state.layer);
  const of = layer ?? attention.layers[0]!;
  if (!layer) problems.push(`layer=${state.layer}`);
  if (state.sample === 'mean' ? !hasMean(of) : state.sample >= of.samples.length) problems.push(`sample=${state.sample}`);
  if (state.head !== 'all' && state.head >= of.heads.length) problems.push(`head=${state.head}`);
  if (state.weights && (state.weights.length !== of.heads.length || !state.weights.some((w) => w > 0)))
    problems.push(`weights=${state.weights.join()}`);
  return problems;
}
