import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { readMember } from '../wire/members.ts';

/** Message thread of a request. */
export interface Thread {
  /** Session that selects the same route and key as at the start of the thread. */
  readonly session: string;
  /** Tag of the upstream that stores the thread, see opaque-state.ts; undefined for a new thread. */
  readonly origin: string | undefined;
  /**
   * Lets the client continue the thread from this answer.
   *
   * @param origin tag of the upstream that wrote the answer
   */
  store(messageId: string, origin: string): void;
}

/** Returns the body whose parameters are checked: a thread whose last answer was paused continues without a new message. */
export function bodyToCheck(body: JsonObject): JsonObject {
  const { messages, thread } = body;
  const isEmpty = Array.isArray(messages) && messages.length === 0 && readMember(thread, 'type') === 'continue';
  return isEmpty ? { ...body, messages: [{}] } : body;
}

export function threadUnsupported(): GatewayError {
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
