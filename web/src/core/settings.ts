/** How to measure: the options of the C interface, by its names. Made by scripts/generate.py: do not edit. */

export const EDGES = ['attention', 'norm', 'contribution'] as const;
export type EdgeKind = (typeof EDGES)[number];

export interface MeasureOptions {
  /** definitions to measure by. exact: normalised walk, and certified fidelity over the sources. published: as for the paper's tables (walk not normalised, fidelity over all nodes and 100 steps) (default: "exact") */
  convention?: 'exact' | 'published';
  /** how the heads are combined into one walk: per-head (as in the theory), pooled, or published (default: pooled; per-head for graphs; published with the published convention) */
  normalization?: 'per-head' | 'pooled' | 'published';
  /** nodes that count for the minimax fidelity: sources or all (default: sources; with the published convention: all) */
  nodes?: 'sources' | 'all';
  /** tokens whose fidelity counts, counted from the first measured token: such as 5, 0-7, 0,3,9 or ::4; negative numbers count from the end. Of several, the weakest counts (default: all nodes) */
  from_tokens?: number | number[] | string;
  /** number of diffusion steps to search, or 'certified': as many as the proof needs (default: certified; 100 with the published convention) */
  horizon?: number | 'certified';
  /** threshold of T_mix, or a list of thresholds (the program takes 0.25,0.01) (default: 0.25) */
  eps?: number | number[];
  /** cutoff for truncated hitting times, in steps (default: 100) */
  cutoff?: number;
  /** limit on diffusion steps; a fidelity that is not certified by then is reported as an interval. 0: no limit, later steps are searched by squaring (default: 0) */
  step_limit?: number;
  /** also measure averaged mixing times, the backward walk to the first token, and how close fidelity comes to its bound; the CPU measures these numbers */
  backward?: boolean;
  /** what the edges are: attention, norm (attention times the norm of what the head moves) or contribution (share of each moved value in the output). With norm and contribution the weights of the heads follow from the edges (default: attention) */
  edges?: 'attention' | 'norm' | 'contribution';
}
