/** The documents of a page: which are there, how to get the others, and how they are saved. */
import type { Session } from '../data/session';
import type { Child } from '../dom';
import { quiet } from '../ui/parts';
import { saveJson } from '../ui/save';

/** What the page does not have, and the command that gives it. */
export function missingWords({ analyze, heads, graphText, title }: Session): string {
  const file = title || 'FILE';
  if (analyze && !heads)
    return `This page does not hold the values of heads (Shapley values, redundant pairs, the best sets over all samples). To add them, run “synergraph analyze ${file} --page page.html --page-heads”.`;
  if (heads && !analyze && !graphText)
    return `This page does not hold the measurements of layers (fidelity, mixing and hitting times, synergy). To get a page with both, run “synergraph heads ${file} --page page.html”.`;
  return '';
}

/** A button for every document. */
export function saveDocuments({ analyze, heads }: Session): Child {
  const save = (label: string, name: string, document: unknown) => quiet(label, () => saveJson(name, document));
  if (analyze && heads)
    return [save('Save JSON (layers)', 'synergraph-analyze', analyze), save('Save JSON (heads)', 'synergraph-heads', heads)];
  return save('Save JSON', 'synergraph', analyze ?? heads);
}
