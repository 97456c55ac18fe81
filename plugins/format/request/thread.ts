import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { readMember } from '../wire/members.ts';

export interface Thread {
  /** The session, which selects the same route and key as at the start of the thread. */
  readonly session: string;
  /** Tag of the upstream that stores the thread, see opaque-state.ts; undefined for a new thread. */
  readonly origin: string | undefined;
  /** Lets the client continue the thread from this answer, which the upstream with the tag `origin` wrote. */
  store(messageId: string, origin: string): void;
}

/** A thread whose last answer was paused continues without a new message. */
export function prepareBodyForCheck(body: JsonObject): JsonObject {
  const { messages, thread } = body;
  const isEmpty = Array.isArray(messages) && messages.length === 0 && readMember(thread, 'type') === 'continue';
  return isEmpty ? { ...body, messages: [{}] } : body;
}

/** The error makes the SDKs send the whole conversation. */
export function createThreadUnsupportedError(): GatewayError {
  return new GatewayError('invalid_request', 'Message threads are not supported by this model. Send all messages.', {
    param: 'thread',
    anthropic: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

/** For a thread that is unknown or whose route failed. The error makes the SDKs send the whole conversation. */
export function createThreadNotFoundError(): GatewayError {
  return new GatewayError('not_found', 'Message thread not found. Send all messages.', {
    param: 'thread.previous_message_id',
    anthropic: { error_code: 'thread_not_found' },
  });
}
