import type { GatewayError } from '#core/errors/table.ts';
import type { JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';

/**
 * Repairs the reply of a vendor that deviates from the client's format, in place and before anything else reads it. What
 * is clean passes as it is: the same event, the same object.
 */
export interface ReplyRepair {
  /** The failure with which the reply ends, if it has no error of its own. */
  readonly failure: GatewayError | undefined;
  /** The events in place of an event. */
  event(event: StreamEvent): readonly StreamEvent[];
  /** The whole reply. @param text of which the body was parsed */
  whole(body: JsonObject, text: string): JsonObject;
  /** What was left out, for the record. */
  readonly notes?: readonly string[];
}
