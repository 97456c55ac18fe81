import type { SentReader } from '#core/config/catalog/formats.ts';
import type { Exchange } from './exchange.ts';
import { defineFact } from './fact.ts';
import { type Reply, replyListener } from './reply.ts';

/** Reader of the content as sent to the client. Set if a stage changed or created the content. */
export const changedContent = defineFact<SentReader>('changed_content');

/** Starts reading the content of a reply as it is sent, because it differs from the content reported by the serving route. */
export function readChangedContent(exchange: Exchange, reply: Reply): void {
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
