import type { Message } from './protocol';
import { serve } from './server';

const receive = serve((answer, transfer) => self.postMessage(answer, { transfer }));
self.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
