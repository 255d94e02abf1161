/** The core on the calling thread: for tests and benchmarks without a browser. */

import type { Answer, WorkerLike } from './protocol';
import { serve } from './server';

export function localWorker(): WorkerLike {
  let ended = false;
  const worker: WorkerLike = {
    onmessage: null,
    onerror: null,
    postMessage(message, transfer) {
      const received = 'module' in message ? message : structuredClone(message, { transfer });
      setTimeout(() => ended || receive(received));
    },
    terminate() {
      ended = true;
    },
  };
  const receive = serve((answer, transfer) => {
    const data = structuredClone(answer, { transfer });
    setTimeout(() => ended || worker.onmessage?.({ data } as MessageEvent<Answer>));
  });
  return worker;
}
