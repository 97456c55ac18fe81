import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { member } from '../wire/members.ts';

/** The message thread of a request. */
export interface Thread {
  /** Leads to the route and the key that began it. */
  readonly session: string;
  /** Of the upstream that holds it, see opaque-state.ts; undefined for a new one. */
  readonly origin: string | undefined;
  /** Lets the client continue with this answer. @param origin of the upstream that gave it */
  keep(messageId: string, origin: string): void;
}

/** The body as parameters are checked: a thread whose last answer was paused continues without a new message. */
export function checkedBody(body: JsonObject): JsonObject {
  const { messages, thread } = body;
  const isEmpty = Array.isArray(messages) && messages.length === 0 && member(thread, 'type') === 'continue';
  return isEmpty ? { ...body, messages: [{}] } : body;
}

export function unsupportedThread(): GatewayError {
  return new GatewayError('invalid_request', 'Message threads are not supported by this model. Send all messages.', {
    param: 'thread',
    anthropic: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

export function threadNotFound(): GatewayError {
  return new GatewayError('not_found', 'Message thread not found. Send all messages.', {
    param: 'thread.previous_message_id',
    anthropic: { error_code: 'thread_not_found' },
  });
}
