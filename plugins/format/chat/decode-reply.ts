import { GatewayError } from '#core/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ReplyDecoder } from '../canonical/codec.ts';
import type { Fragment } from '../canonical/reply.ts';
import { parseBody } from '../request/members.ts';
import { readFailure } from '../canonical/read-failure.ts';
import { CallTracker } from './call-tracker.ts';
import { readFinish, readMessage } from './read-reply.ts';
import { TextTracker } from './text-tracker.ts';
import { ThinkSplitter } from './think-splitter.ts';
import { readUsage } from './usage.ts';

export interface ChatDecoderOptions {
  /** The reasoning is inside the text, between <think> and </think>. */
  readonly inlineThinking?: boolean;
}

/**
 * Reads a Chat Completions reply with the deviations of all vendors. Of several answers it reads the first. Source:
 * OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
 */
export class ChatDecoder implements ReplyDecoder {
  readonly #calls = new CallTracker();
  readonly #text = new TextTracker();
  readonly #reasoning = new TextTracker();
  readonly #refusal = new TextTracker();
  readonly #splitter: ThinkSplitter | undefined;
  /** Index of the answer that is read. */
  #choice: JsonValue | undefined;

  constructor({ inlineThinking = false }: ChatDecoderOptions = {}) {
    this.#splitter = inlineThinking ? new ThinkSplitter() : undefined;
  }

  event(name: string | undefined, data: string): Fragment[] {
    const json = data.replace(/^\uFEFF/, '').trim();
    if (json === '[DONE]') return [...this.#rest(), { type: 'end' }];
    const chunk = parseBody(json);
    if (chunk === undefined) return name === 'error' ? [failed({ message: json })] : [];
    if (name === 'error') return [failed(isJsonObject(chunk['error']) ? chunk['error'] : chunk)];
    const error = readFailure(chunk);
    if (error !== undefined) return [{ type: 'error', error }];
    const choice = this.#pick(chunk['choices']);
    return [...usageOf(chunk), ...(choice === undefined ? [] : this.#answer(choice))];
  }

  whole(body: JsonObject): Fragment[] {
    const error = readFailure(body);
    if (error !== undefined) return [{ type: 'error', error }];
    const choice = this.#pick(body['choices']);
    if (choice === undefined) return [failed({ message: 'an answer without choices', ...body })];
    const fragments = [...usageOf(body), ...this.#answer(choice), ...this.#rest()];
    return fragments.some(({ type }) => type === 'error') ? fragments : [...fragments, { type: 'end' }];
  }

  /** The first answer received, whatever its index. */
  #pick(choices: JsonValue | undefined): JsonObject | undefined {
    const list = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    this.#choice ??= list[0]?.['index'] ?? undefined;
    return list.find(({ index }) => typeof index !== 'number' || index === this.#choice);
  }

  #answer(choice: JsonObject): Fragment[] {
    const { delta, message } = choice;
    const error = readFailure(choice);
    if (error !== undefined) return [{ type: 'error', error }];
    const fragments: Fragment[] = [
      ...(isJsonObject(delta) ? this.#delta(delta) : []),
      ...(isJsonObject(message) ? this.#message(message) : []),
    ];
    const finish = readFinish(choice);
    if (finish === undefined) return fragments;
    if (finish === 'failed') return [...fragments, gaveUp(choice['finish_reason'])];
    return [...fragments, ...this.#rest(), finish];
  }

  #delta(delta: JsonObject): Fragment[] {
    const content = readMessage(delta);
    const reasoning = content.isDetailed
      ? this.#reasoning.pieceOrAll(content.reasoning)
      : this.#reasoning.pieceOnce(content.reasoning);
    // A vendor that repeats all reasoning repeats all text.
    const text = this.#reasoning.isCumulative ? this.#text.pieceOrAll(content.text) : this.#text.piece(content.text);
    return [
      ...textFragment('reasoning', reasoning),
      ...this.#split(text),
      ...textFragment('refusal', this.#refusal.piece(content.refusal)),
      ...content.citations.map((citation) => ({ type: 'citation', citation }) as const),
      ...this.#calls.pieces(content.calls),
    ];
  }

  /** A whole message: the reply itself, or a repetition of the deltas. */
  #message(message: JsonObject): Fragment[] {
    const content = readMessage(message);
    return [
      ...textFragment('reasoning', this.#reasoning.whole(content.reasoning)),
      ...this.#split(this.#text.whole(content.text)),
      ...textFragment('refusal', this.#refusal.whole(content.refusal)),
      ...content.citations.map((citation) => ({ type: 'citation', citation }) as const),
      ...content.calls.flatMap((call, position) => this.#calls.whole(call, position)),
    ];
  }

  #split(text: string): Fragment[] {
    return this.#splitter === undefined ? textFragment('text', text) : this.#splitter.take(text);
  }

  #rest(): Fragment[] {
    return this.#splitter?.rest() ?? [];
  }
}

function textFragment(type: 'text' | 'reasoning' | 'refusal', text: string): Fragment[] {
  return text === '' ? [] : [{ type, text }];
}

function usageOf(body: JsonObject): Fragment[] {
  const usage = readUsage(body);
  return usage === undefined ? [] : [{ type: 'usage', usage }];
}

function failed(body: JsonObject): Fragment {
  return { type: 'error', error: readFailure(body, true) };
}

/** @param word `insufficient_system_resource` is DeepSeek's name for an overload */
function gaveUp(word: JsonValue | undefined): Fragment {
  const code = word === 'insufficient_system_resource' ? 'unavailable' : 'upstream_failed';
  return { type: 'error', error: new GatewayError(code, 'The upstream aborted its answer.') };
}
