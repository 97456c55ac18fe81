import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { parseExactInputs } from '#core/gateway/model-call/exact-json.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { isDeeperThan, isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import {
  createErrorFragment,
  createFailureFragment,
  type Fragment,
  isContent,
  toModelFragments,
  progress,
  toUsageFragments,
} from '../../../canonical/reply.ts';
import type { GeminiCandidate, GeminiContent, GeminiReply } from '../../../wire/gemini.ts';
import { asList, readMember } from '../../../wire/members.ts';
import { readBlock, readEnding, readFinish, readUsage } from './finish.ts';
import { PartReader } from './read-output.ts';

/**
 * Reads a `generateContent` reply. A stream is a sequence of such replies, each with the parts that are new. It has no end event, only a
 * finish reason.
 *
 * Source: Gemini API reference, "GenerateContentResponse".
 */
export class GeminiDecoder implements ReplyDecoder {
  readonly #parts = new PartReader();
  #index: JsonValue | undefined;

  readEvent(_name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    if (data.trim() === '[DONE]') return this.#endReply();
    const body = event === undefined ? readChunk(data) : event.parse();
    return body === undefined ? [] : this.#readReply(body, event !== undefined);
  }

  /** Parses every event, because each has token counts. */
  skimEvent(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const body: GeminiReply = event.parse() ?? {};
    const [candidate, ...others] = asList(body.candidates);
    const isOnlyPiece = candidate !== undefined && others.length === 0 && this.#isDecoded(candidate);
    if (!isOnlyPiece || readEnding(candidate) !== undefined || readReportedError(body) !== undefined) return undefined;
    // Only a block matters here, because every event may repeat Google's safety ratings of the prompt.
    if (readBlock(body.promptFeedback).length > 0) return undefined;
    if (content !== undefined && !addTexts(candidate, content)) return undefined;
    return toUsageFragments(readUsage(body.usageMetadata));
  }

  readWhole(body: JsonObject): Fragment[] {
    const fragments = this.#readReply(body);
    const hasEnded = fragments.some(({ type }) => type === 'finish' || type === 'error' || type === 'end');
    if (hasEnded) return [...fragments, ...this.#endReply()];
    if (!fragments.some(({ type }) => type !== 'usage' && type !== 'model'))
      return [createFailureFragment('upstream.reason.without_content')];
    return [...fragments, { type: 'finish', reason: 'stop' }, ...this.#endReply()];
  }

  /** @param isShared true if the event passes through, in which case the text need not be kept */
  #readReply(envelope: JsonObject, isShared = false): Fragment[] {
    const body: GeminiReply = unwrapReply(envelope);
    if (readReportedError(body) !== undefined) return [createErrorFragment(body)];
    const metadata = [...toModelFragments(body.modelVersion), ...toUsageFragments(readUsage(body.usageMetadata))];
    const candidates = asList(body.candidates).filter(isJsonObject);
    const block = readBlock(body.promptFeedback);
    // A candidate without content may come with a blocked prompt.
    const isBlocked = block.length > 0 && candidates.every((candidate) => this.#isCompatibleWithBlock(candidate));
    if (candidates.length === 0 || isBlocked) return [...metadata, ...block];
    this.#index ??= readIndex(candidates[0]);
    // The gateway requests one candidate, but clients may request several.
    const decodedCandidate = candidates.find((candidate) => this.#isDecoded(candidate));
    const otherFragments = candidates.filter((candidate) => candidate !== decodedCandidate).flatMap(readOtherCandidate);
    if (decodedCandidate === undefined) return [...metadata, ...otherFragments];
    const content = this.#parts.read(decodedCandidate, isShared);
    const isOnlyProgress = hasFilledParts(decodedCandidate) && !content.some(isContent);
    const finish = readFinish(decodedCandidate, this.#parts.hasContent);
    return [...content, ...(isOnlyProgress ? [progress] : []), ...metadata, ...otherFragments, ...finish];
  }

  #isDecoded(candidate: JsonValue): boolean {
    return readIndex(candidate) === (this.#index ?? 0);
  }

  #isCompatibleWithBlock(candidate: JsonObject): boolean {
    if (hasFilledParts(candidate)) return false;
    const ending = readEnding(candidate);
    return ending === undefined || !(this.#parts.hasContent || ending.error !== undefined);
  }

  #endReply(): Fragment[] {
    return [...this.#parts.finish(), { type: 'end' }];
  }
}

/** Returns false, without adding anything, if the candidate also has other parts. */
function addTexts(candidate: JsonValue, content: SkimmedContent): boolean {
  const parts = asList(readMember<GeminiContent>(readMember<GeminiCandidate>(candidate, 'content'), 'parts'));
  if (!parts.every(isText)) return false;
  for (const { text, thought } of parts)
    if (thought === true) content.addReasoning(text);
    else content.addText(text);
  return true;
}

function isText(part: JsonValue): part is JsonObject & { readonly text: string; readonly thought?: JsonValue } {
  return isJsonObject(part) && typeof part['text'] === 'string' && part['functionCall'] === undefined;
}

function readIndex(candidate: JsonValue | undefined): JsonValue {
  return readMember<GeminiCandidate>(candidate, 'index') ?? 0;
}

function readOtherCandidate(candidate: JsonObject): Fragment[] {
  const { reason, error } = readEnding(candidate) ?? {};
  const other: Fragment = { type: 'other', answer: readIndex(candidate), finish: reason, error };
  return hasFilledParts(candidate) ? [progress, other] : [other];
}

function hasFilledParts({ content }: GeminiCandidate): boolean {
  return asList(readMember<GeminiContent>(content, 'parts')).some(isFilled);
}

/** Some relays wrap a reply in an object. Returns the same object if it is not wrapped. */
export function unwrapReply(body: JsonObject): JsonObject {
  const { response, candidates }: GeminiReply = body;
  const isWrapped = candidates === undefined && readMember<GeminiReply>(response, 'candidates') !== undefined;
  return isWrapped && isJsonObject(response) ? response : body;
}

const startsChunk = /^\s*[[{]/;

function readChunk(data: string): JsonObject | undefined {
  // A failed parse takes a hundred times as long as this test, and a stream may have thousands of empty events.
  if (!startsChunk.test(data)) return undefined;
  try {
    const value = parseExactInputs(data) as JsonValue;
    // The streaming endpoint may wrap errors in a list.
    const chunk = Array.isArray(value) ? value[0] : value;
    return isJsonObject(chunk) && !isDeeperThan(chunk) ? chunk : undefined;
  } catch {
    return undefined;
  }
}
