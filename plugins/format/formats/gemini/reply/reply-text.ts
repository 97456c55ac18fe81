import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyText, TextBlocks } from '#core/config/catalog/reply-text.ts';

/** The texts of Gemini: the parts of each candidate, one text until a call or another part comes between them. */
export const geminiReplyText: ReplyText = {
  mapReply(reply, blocks) {
    for (const candidate of candidatesOf(reply)) mapCandidate(candidate, true, blocks);
  },
  mapEvents: (blocks) => (event) => {
    const candidates = candidatesOf(event.data);
    for (const candidate of candidates) mapCandidate(candidate, candidate['finishReason'] !== undefined, blocks);
    return candidates.length === 0 ? undefined : [event];
  },
};

function candidatesOf({ candidates }: JsonObject): JsonObject[] {
  return Array.isArray(candidates) ? candidates.filter(isJsonObject) : [];
}

function mapCandidate(candidate: JsonObject, isLast: boolean, blocks: TextBlocks): void {
  const block = String(candidate['index'] ?? 0);
  const content = isJsonObject(candidate['content']) ? candidate['content'] : { role: 'model' };
  const parts = Array.isArray(content['parts']) ? content['parts'] : [];
  const mapped = parts.flatMap((part) => mapPart(part, block, blocks));
  const held = isLast ? blocks.end(block) : '';
  if (held !== '') addText(mapped, held);
  if (mapped.length === 0 && parts.length === 0) return;
  candidate['content'] = { ...content, parts: mapped };
}

function mapPart(part: JsonValue, block: string, blocks: TextBlocks): JsonValue[] {
  if (isJsonObject(part) && typeof part['text'] === 'string' && part['thought'] !== true)
    return [{ ...part, text: blocks.push(block, part['text']) }];
  const held = blocks.end(block);
  return held === '' ? [part] : [{ text: held }, part];
}

function addText(parts: JsonValue[], text: string): void {
  const last = parts.at(-1);
  if (isJsonObject(last) && typeof last['text'] === 'string' && last['thought'] !== true) last['text'] += text;
  else parts.push({ text });
}
