import type { GatewayError } from '#core/errors/table.ts';
import type { Usage } from '#core/facts.ts';
import type { JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';

/** Reads along while a reply of one format passes through, and reports what the gateway needs to know of it. */
export interface ReplyObserver {
  /** Takes one event of a stream that has data. */
  event(event: StreamEvent): void;
  /** Takes a whole reply. */
  whole(body: JsonObject): void;
  readonly hasContent: boolean;
  /** See `ReplyReader`. */
  readonly isComplete: boolean;
  /** See `ReplyReader`. */
  readonly isFinished: boolean;
  /** True after the last event of the stream: what follows does not belong to the answer. */
  readonly isOver: boolean;
  /** The last event of a stream, for a complete one that lacks it; missing in formats whose streams end without one. */
  readonly endMark?: string;
  readonly failure: GatewayError | undefined;
  readonly usage: Usage | undefined;
  /** The whole answer, once it is complete; missing in formats whose answers are not stored. */
  readonly finished?: JsonObject | undefined;
  /** Writes the error that ends the stream at this point. @param usage of the answer so far */
  renderFailure(error: GatewayError, usage?: Usage): string;
}
