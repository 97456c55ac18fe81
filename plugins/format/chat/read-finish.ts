import { GatewayError } from '#core/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { readFailure } from '../canonical/read-failure.ts';
import type { FinishReason, Fragment } from '../canonical/reply.ts';
import { textOf } from './read-reply.ts';

/** Finish reasons of all vendors, without those for failures. */
const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_output_tokens', 'length'],
  ['model_length', 'context_length'],
  ['model_context_window_exceeded', 'context_length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'content_filter'],
]);
const failures = new Set(['error', 'network_error', 'insufficient_system_resource', 'abort']);

/**
 * `failed`: the vendor has aborted the answer. Undefined while the answer continues. An unknown reason ends the answer.
 */
export function readFinish(choice: JsonObject): Extract<Fragment, { type: 'finish' }> | 'failed' | undefined {
  const word = textOf(choice['finish_reason']).toLowerCase();
  if (word === '' || word === 'null') return undefined;
  if (failures.has(word)) return 'failed';
  const reason = reasons.get(word) ?? 'stop';
  // vLLM reports the stop sequence.
  const stop = textOf(choice['stop_reason']);
  const isSequence = reason === 'stop' && stop !== '' && !reasons.has(stop.toLowerCase());
  return isSequence
    ? { type: 'finish', reason: 'stop_sequence', stopSequence: stop }
    : { type: 'finish', reason, stopSequence: undefined };
}

/** The error of an answer that its vendor reports as failed; undefined for any other. */
export function readAbort(choice: JsonObject): GatewayError | undefined {
  const error = readFailure(choice);
  if (error !== undefined || readFinish(choice) !== 'failed') return error;
  return aborted(choice['finish_reason']);
}

/** @param word `insufficient_system_resource` is DeepSeek's name for an overload */
function aborted(word: JsonValue | undefined): GatewayError {
  const code = word === 'insufficient_system_resource' ? 'unavailable' : 'upstream_failed';
  return new GatewayError(code, 'The upstream aborted its response.');
}
