import type { SentReader } from '#core/config/catalog/formats.ts';
import type { Exchange } from './exchange.ts';
import { defineFact } from './fact.ts';
import { type Reply, replyListener } from './reply.ts';

/** Reads the answer as its client gets it, where a stage has changed or made it. */
export const changedContent = defineFact<SentReader>('changed_content');

/** Has the content of a reply read as it is sent: it is not the one that the serving route has reported. */
export function readChangedBody(exchange: Exchange, reply: Reply): void {
  if (reply.status >= 300 || exchange.find(changedContent) !== undefined) return;
  const reader = exchange.format?.readContent?.(reply.headers['content-type'] ?? '');
  if (reader === undefined) return;
  const listener = exchange.find(replyListener);
  exchange.set(changedContent, reader);
  exchange.set(replyListener, (chunk) => {
    listener?.(chunk);
    reader.add(chunk);
  });
}
