import { GatewayError } from '#core/platform/errors/table.ts';
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { parseExactInputs } from '#core/gateway/model-call/exact-json.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { ReplyDecoder } from '../../../canonical/codec.ts';
import { failed, type Fragment, usageFragment } from '../../../canonical/reply.ts';
import { readBlock, readFinish, readUsage } from './finish.ts';
import { PartReader } from './read-output.ts';
import { member } from '../../../wire/members.ts';
import type { GeminiCandidate, GeminiReply } from '../../../wire/gemini.ts';

/**
 * Reads a generateContent reply. A stream is a sequence of such replies, each with the new parts. It has no end event,
 * only a finish reason.
 *
 * Source: Gemini API reference, "GenerateContentResponse".
 */
export class GeminiDecoder implements ReplyDecoder {
  readonly #parts = new PartReader();

  event(_name: string | undefined, data: string): Fragment[] {
    if (data.trim() === '[DONE]') return this.#end();
    const body = readChunk(data);
    return body === undefined ? [] : this.#chunk(body);
  }

  whole(body: JsonObject): Fragment[] {
    const fragments = this.#chunk(body);
    const isOver = fragments.some(({ type }) => type === 'finish' || type === 'error' || type === 'end');
    if (isOver) return [...fragments, ...this.#end()];
    if (!fragments.some(({ type }) => type !== 'usage')) {
      const error = new GatewayError('upstream_failed', upstreamReason('upstream.reason.without_content'));
      return [{ type: 'error', error }];
    }
    return [...fragments, { type: 'finish', reason: 'stop' }, ...this.#end()];
  }

  #chunk(envelope: JsonObject): Fragment[] {
    const body: GeminiReply = inner(envelope);
    if (readReportedError(body) !== undefined) return [failed(body)];
    const counted = usageFragment(readUsage(body.usageMetadata));
    const candidate = candidateOf(body);
    if (candidate === undefined) return [...counted, ...readBlock(body.promptFeedback)];
    return [...this.#parts.read(candidate), ...counted, ...readFinish(candidate, this.#parts.hasSpoken)];
  }

  #end(): Fragment[] {
    return [...this.#parts.finish(), { type: 'end' }];
  }
}

/** The first; the gateway never requests more. */
function candidateOf({ candidates }: GeminiReply): GeminiCandidate | undefined {
  const first = Array.isArray(candidates) ? candidates[0] : undefined;
  return isJsonObject(first) ? first : undefined;
}

/** Some relays wrap the reply in an object. */
function inner(body: JsonObject): JsonObject {
  const { response, candidates }: GeminiReply = body;
  const isPacked = candidates === undefined && member<GeminiReply>(response, 'candidates') !== undefined;
  return isPacked && isJsonObject(response) ? response : body;
}

const startsChunk = /^\s*[[{]/;

/** Errors of the streaming endpoint may come in a list. */
function readChunk(data: string): JsonObject | undefined {
  // A parser's error takes a hundred times as long, and a stream may have thousands of empty events.
  if (!startsChunk.test(data)) return undefined;
  try {
    const value = parseExactInputs(data) as JsonValue;
    const chunk = Array.isArray(value) ? value[0] : value;
    return isJsonObject(chunk) && !isDeeperThan(chunk) ? chunk : undefined;
  } catch {
    return undefined;
  }
}
