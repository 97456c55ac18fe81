import type { ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { GeminiCandidate, GeminiContent, GeminiPart, GeminiReply } from '../../../wire/gemini.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asObject, scalarToText } from '../../../wire/members.ts';
import { JsonArrayFramer } from './json-array.ts';

/** Consecutive text parts form one text. */
export const geminiReplyText: ReplyText = {
  mapReply(reply, blocks) {
    for (const candidate of listCandidates(reply)) mapCandidate(candidate, true, blocks);
  },
  mapEvents: (blocks) => (event) => {
    const candidates = listCandidates(event.data);
    for (const candidate of candidates) mapCandidate(candidate, candidate.finishReason !== undefined, blocks);
    return candidates.length === 0 ? undefined : [event];
  },
  frameArray: () => new JsonArrayFramer(),
};

function listCandidates({ candidates }: GeminiReply): Editable<GeminiCandidate>[] {
  return Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
}

function mapCandidate(candidate: Editable<GeminiCandidate>, isLast: boolean, blocks: TextBlocks): void {
  const block = scalarToText(candidate.index ?? 0);
  const content: GeminiContent = isJsonObject(candidate.content) ? candidate.content : { role: 'model' };
  const parts = Array.isArray(content.parts) ? content.parts : [];
  const mapped = parts.flatMap((part) => mapPart(part, block, blocks));
  const heldText = isLast ? blocks.end(block) : '';
  if (heldText !== '') addText(mapped, heldText);
  if (mapped.length === 0 && parts.length === 0) return;
  candidate.content = { ...content, parts: mapped };
}

function mapPart(part: JsonValue, block: string, blocks: TextBlocks): JsonValue[] {
  const { text, thought }: GeminiPart = asObject(part);
  if (isJsonObject(part) && typeof text === 'string' && thought !== true)
    return [{ ...part, text: blocks.push(block, text) }];
  const heldText = blocks.end(block);
  return heldText === '' ? [part] : [{ text: heldText }, part];
}

function addText(parts: JsonValue[], text: string): void {
  const lastPart = parts.at(-1);
  const { text: earlierText, thought }: GeminiPart = isJsonObject(lastPart) ? lastPart : {};
  if (isJsonObject(lastPart) && typeof earlierText === 'string' && thought !== true)
    parts[parts.length - 1] = { ...lastPart, text: earlierText + text };
  else parts.push({ text });
}
