import type { Metrics } from '../core';
import { headName } from '../data/intervals';
import type { MeasuredLayer } from '../data/measure-layer';
import { tokenName, tokenPhrase, type Selection } from '../data/selection';
import type { Session } from '../data/session';

/** The head that is shown, or all together. */
export const shownHead = ({ head, info }: Selection): string =>
  head === 'all' ? 'all heads together' : headName(info.heads[head]!);

/** A layer that is measured, and what of it is shown. */
export class ShownLayer {
  constructor(
    readonly measured: MeasuredLayer,
    readonly now: Selection,
    private readonly session: Session,
  ) {}

  get document() {
    return this.measured.document;
  }
  /** Whether numbers are means over samples. */
  get isMean(): boolean {
    return this.now.sample === 'mean';
  }
  /** Whether several heads are shown together. */
  get together(): boolean {
    return this.now.head === 'all' && this.document.heads.length > 1;
  }
  /** The metrics of what is shown. */
  get of(): Metrics {
    const { head } = this.now;
    return head === 'all' ? this.document.combined : this.document.heads[head]!;
  }
  get series() {
    const { series } = this.measured.curves;
    return series[this.now.head === 'all' ? series.length - 1 : this.now.head]!;
  }
  /** The token that delivers least. */
  get weakest(): number {
    return this.document.nodes.indexOf(this.of.minimax_fidelity.node);
  }
  get weakestPhrase(): string {
    return tokenPhrase(this.session, this.now.sample)(this.weakest);
  }
  readonly tokenName = (token: number) => tokenName(this.session, this.now.sample)(token);
}
