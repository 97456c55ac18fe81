import { GatewayError } from '#core/errors/table.ts';
import type { JsonValue } from '#core/json.ts';
import type { FinishReason, Fragment } from '../canonical/reply.ts';
import { member } from '../request/members.ts';

/** Finish reasons of the format and of vendors that imitate it. Any other ends the answer too. */
const reasons = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  ['refusal', 'content_filter'],
  ['model_context_window_exceeded', 'context_length'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
]);
const failures = new Set(['error', 'network_error']);

/** The failure of a stream in which a second response begins: its relation to the first is unknown. */
export function secondStartError(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream started its response a second time.');
}

/** The finish reason; undefined while the reply continues. */
export function readFinish(ending: JsonValue | undefined): Extract<Fragment, { type: 'finish' | 'error' }> | undefined {
  const reported = member(ending, 'stop_reason');
  if (typeof reported !== 'string' || reported === '') return undefined;
  if (failures.has(reported)) {
    const error = new GatewayError('upstream_failed', `The upstream ended its response with ${reported}.`);
    return { type: 'error', error };
  }
  const stopSequence = member(ending, 'stop_sequence');
  const reason = reasons.get(reported) ?? 'stop';
  return { type: 'finish', reason, stopSequence: typeof stopSequence === 'string' ? stopSequence : undefined };
}
