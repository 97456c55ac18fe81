import type { GatewayError } from '#core/errors/table.ts';
import type { Usage } from '#core/facts.ts';
import type { JsonObject } from '#core/json.ts';

/** Watches a reply in one format go by. What it finds is what the gateway needs to know; the bytes are not its business. */
export interface ReplyObserver {
  /** Takes one event of a stream. `name` is the `event:` line; undefined when there is none. */
  event(name: string | undefined, data: string): void;
  /** Takes a whole reply. */
  whole(body: JsonObject): void;
  readonly hasContent: boolean;
  readonly isComplete: boolean;
  /** True once the stream has said its last word: whatever else comes belongs to no answer of ours. */
  readonly isOver: boolean;
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** Writes the error that ends the stream at this point. @param usage what the answer has taken so far */
  renderFailure(error: GatewayError, usage?: Usage): string;
}
