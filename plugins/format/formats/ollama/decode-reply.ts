import { type JsonObject, type JsonValue, isJsonObject } from '#core/platform/json.ts';
import type { ReplyDecoder } from '../../canonical/codec.ts';
import {
  createFailureFragment,
  readFailure,
  type FinishReason,
  type Fragment,
  toModelFragments,
} from '../../canonical/reply.ts';
import { asCount, asFilledText, readMember, parseBody } from '../../wire/members.ts';
import type { OllamaCall, OllamaCallBody, OllamaMessage, OllamaReply } from '../../wire/ollama.ts';

const finishReasons = new Map<JsonValue | undefined, FinishReason>([['length', 'length']]);
/** Reasons in replies without content, which only loaded or unloaded the model. */
const loadReasons = new Set<JsonValue | undefined>(['load', 'unload']);

/**
 * Decodes a chat reply. A stream is a series of such replies, each with the next piece of the message. The reply with `done` has the token
 * counts. An error inside a stream is on a separate line.
 *
 * Source: Ollama API reference, "Generate a chat message", "Errors".
 */
export class OllamaDecoder implements ReplyDecoder {
  #callCount = 0;

  readEvent(_name: string | undefined, data: string): Fragment[] {
    const chunk = parseBody(data);
    return chunk === undefined ? [] : this.#readChunk(chunk);
  }

  readWhole(body: JsonObject): Fragment[] {
    const fragments = this.#readChunk(body);
    if (fragments.some(({ type }) => type === 'error' || type === 'end')) return fragments;
    return isJsonObject(readMember<OllamaReply>(body, 'message'))
      ? [...fragments, { type: 'end' }]
      : [createMissingReplyFragment()];
  }

  #readChunk(chunk: JsonObject): Fragment[] {
    const error = readFailure(chunk);
    if (error !== undefined) return [{ type: 'error', error }];
    const { message, done }: OllamaReply = chunk;
    const fragments = isJsonObject(message) ? this.#readMessage(message) : [];
    return done === true ? [...fragments, ...readEnd(chunk)] : fragments;
  }

  #readMessage({ thinking, content, tool_calls }: OllamaMessage): Fragment[] {
    return [
      ...(typeof thinking === 'string' ? [{ type: 'reasoning', text: thinking } as const] : []),
      ...(typeof content === 'string' ? [{ type: 'text', text: content } as const] : []),
      ...(Array.isArray(tool_calls) ? tool_calls.flatMap((call) => this.#readCall(call)) : []),
    ];
  }

  /** Streams do not split calls, and older versions send no ids. */
  #readCall(call: JsonValue): Fragment[] {
    const body = readMember<OllamaCall>(call, 'function');
    const name = asFilledText(readMember<OllamaCallBody>(body, 'name'));
    const input = readMember<OllamaCallBody>(body, 'arguments');
    if (name === undefined) return [];
    const key = this.#callCount++;
    return [
      { type: 'call', key, name, id: asFilledText(readMember<OllamaCall>(call, 'id')) },
      { type: 'input', key, text: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
      { type: 'call_end', key },
    ];
  }
}

function readEnd({ done_reason: reason, model, prompt_eval_count, eval_count }: OllamaReply): Fragment[] {
  if (loadReasons.has(reason)) return [createMissingReplyFragment()];
  return [
    ...toModelFragments(model),
    { type: 'usage', usage: { input: asCount(prompt_eval_count), output: asCount(eval_count) } },
    { type: 'finish', reason: finishReasons.get(reason) ?? 'stop' },
    { type: 'end' },
  ];
}

function createMissingReplyFragment(): Fragment {
  return createFailureFragment('upstream.reason.no_response');
}
