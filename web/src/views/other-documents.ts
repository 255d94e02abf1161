/** The documents of a page: which are there, how to get the others, and how they are saved. */
import type { Session } from '../data/session';
import { h, type Child } from '../dom';
import { saveFile } from '../ui/save';

/** What the page does not have, and the command that gives it. */
export function missingWords({ analyze, heads, graphText, title }: Session): string {
  const file = title || 'FILE';
  if (analyze && !heads)
    return `What heads are worth (Shapley values, redundant pairs, the best sets over all samples) is not in this page: “synergraph analyze ${file} --page page.html --page-heads” adds it.`;
  if (heads && !analyze && !graphText)
    return `The layers’ measurements (fidelity, mixing and hitting times, synergy) are not in this page: “synergraph heads ${file} --page page.html” writes a page with both.`;
  return '';
}

/** A button for every document. */
export function saveDocuments({ analyze, heads }: Session): Child {
  const save = (label: string, name: string, document: unknown) =>
    h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        onclick: () => saveFile(`${name}.json`, JSON.stringify(document, null, 2) + '\n', 'application/json'),
      },
      label,
    );
  if (analyze && heads)
    return [save('Save JSON (layers)', 'synergraph-analyze', analyze), save('Save JSON (heads)', 'synergraph-heads', heads)];
  return save('Save JSON', 'synergraph', analyze ?? heads);
}
