/** Work whose outcome matters only until it is asked for again. */
export class Latest {
  private turn = 0;

  /** Runs the work; what it gives is handed on unless a newer one has begun, or `stop` was called. */
  async run<T>(work: () => Promise<T>, done: (result: T) => void, failed: (message: string) => void): Promise<void> {
    const turn = ++this.turn;
    try {
      const result = await work();
      if (turn === this.turn) done(result);
    } catch (error) {
      if (turn === this.turn) failed(error instanceof Error ? error.message : String(error));
    }
  }

  stop(): void {
    ++this.turn;
  }
}
