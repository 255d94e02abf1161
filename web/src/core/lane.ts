/** One worker: what was asked of it, and what it must be told again after it was ended. */

import type { Answer, Calls, Message, Name, Resource, WorkerLike } from './protocol';
import { CoreError, type CallOptions } from './types';

interface Pending {
  message: Message;
  needs: readonly number[];
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

/** Resources that workers are told of when they first need them. */
export interface Shelf {
  find(number: number): Resource | undefined;
}

export class Lane {
  private worker: WorkerLike | null = null;
  private readonly told = new Set<number>();
  private readonly pending = new Map<number, Pending>();
  private next = 0;

  constructor(
    private readonly create: () => WorkerLike,
    private readonly module: WebAssembly.Module,
    private readonly shelf: Shelf,
  ) {}

  /** Calls; `needs` are the resources, those that others need first. */
  call<Call extends Name>(
    call: Call,
    args: Parameters<Calls[Call]>,
    needs: readonly number[],
    { signal }: CallOptions = {},
  ): Promise<ReturnType<Calls[Call]>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      for (const number of needs) this.tell(number);
      const id = this.next++;
      const message = { id, call, args } as unknown as Message;
      this.pending.set(id, { message, needs, resolve, reject });
      this.post(message);
      signal?.addEventListener('abort', () => this.abort(id, signal.reason), { once: true });
    });
  }

  drop(number: number): void {
    if (this.told.delete(number)) this.post({ drop: number });
  }

  close(): void {
    this.end();
    this.told.clear();
    for (const { reject } of this.pending.values()) reject(new CoreError('the core was closed', 'usage'));
    this.pending.clear();
  }

  private tell(number: number): void {
    const resource = this.shelf.find(number);
    if (resource === undefined || this.told.has(number)) return;
    this.told.add(number);
    this.keep(number, resource);
  }

  private keep(number: number, resource: Resource): void {
    if (resource.kind !== 'arrays') {
      this.post({ keep: number, resource });
      return;
    }
    // Copies: a view would take all of its buffer along.
    const heads = resource.heads.map((head) => ({ ...head, bytes: head.bytes.slice() }));
    this.post(
      { keep: number, resource: { ...resource, heads } },
      heads.map((head) => head.bytes.buffer),
    );
  }

  private post(message: Message, transfer: Transferable[] = []): void {
    this.started().postMessage(message, transfer);
  }

  private started(): WorkerLike {
    if (this.worker !== null) return this.worker;
    const worker = this.create();
    worker.onmessage = ({ data }) => this.receive(data);
    worker.onerror = (event) => this.fail(event.message);
    worker.postMessage({ module: this.module }, []);
    this.worker = worker;
    return worker;
  }

  private receive(answer: Answer): void {
    const pending = this.pending.get(answer.id);
    this.pending.delete(answer.id);
    if ('value' in answer) pending?.resolve(answer.value as never);
    else pending?.reject(new CoreError(answer.message, answer.kind));
  }

  /** Ends a call by ending the worker; the others are asked for again. */
  private abort(id: number, reason: unknown): void {
    const aborted = this.pending.get(id);
    if (aborted === undefined) return;
    this.pending.delete(id);
    aborted.reject(reason);
    this.end();
    const told = [...this.told];
    this.told.clear();
    for (const number of told.sort((a, b) => a - b)) if (!aborted.needs.includes(number) || this.needed(number)) this.tell(number);
    for (const { message } of this.pending.values()) this.post(message);
  }

  private needed(number: number): boolean {
    return [...this.pending.values()].some(({ needs }) => needs.includes(number));
  }

  private fail(message: string): void {
    this.end();
    this.told.clear();
    for (const { reject } of this.pending.values()) reject(new CoreError(`the core failed: ${message}`, 'internal'));
    this.pending.clear();
  }

  private end(): void {
    this.worker?.terminate();
    this.worker = null;
  }
}
