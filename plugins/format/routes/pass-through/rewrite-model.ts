import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import { JsonCursor } from '#core/platform/json-scan.ts';
import { parseJson } from '#core/platform/json.ts';
import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import type { RequestContent } from '../../request/request-content.ts';

const searchedBytes = 4_096; // bytes at a body's start that are searched first, because clients name the model early
const quotedKey = '"model"';
const maxModelLength = 512;
const emptyBuffer = Buffer.alloc(0);

interface NameSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * Replaces the model's name in the body. Every other byte is unchanged, which preserves unknown members, large numbers and white space.
 *
 * @param content must name the model only once, see `isAmbiguous`
 * @param parsedName the name as the parser read it
 */
export function rewriteModel(content: RequestContent, parsedName: unknown, model: string): UpstreamRequest['body'] {
  if (parsedName === model) return content.upstreamBytes;
  const { bodyOutline } = content;
  const pieces = bodyOutline?.pieces ?? [content.bytes];
  const byteSpan = findNearStart(pieces[0], parsedName) ?? (bodyOutline && findAfterLongTexts(bodyOutline, parsedName));
  if (byteSpan !== undefined) return replaceBytes(pieces, byteSpan, Buffer.from(JSON.stringify(model)));
  const { text } = content;
  const span = findModel(text, parsedName);
  if (span === undefined) return JSON.stringify({ ...content.body, model });
  return text.slice(0, span.start) + JSON.stringify(model) + text.slice(span.end);
}

function replaceBytes(pieces: readonly Buffer[], { start, end }: NameSpan, bytes: Buffer): UpstreamRequest['body'] {
  const [first = emptyBuffer] = pieces;
  if (pieces.length === 1 && first.length <= searchedBytes)
    return Buffer.concat([first.subarray(0, start), bytes, first.subarray(end)]);
  // Each piece costs a write, so short ones are joined.
  const [before, after] = [slicePieces(pieces, 0, start), slicePieces(pieces, end)];
  const [shortStart, longStart] = start <= searchedBytes ? [before, []] : [[], before];
  const [shortEnd, longEnd] = sumSizes(after) <= searchedBytes ? [after, []] : [[], after];
  const joined = Buffer.concat([...shortStart, bytes, ...shortEnd]);
  return longStart.length + longEnd.length === 0 ? joined : [...longStart, joined, ...longEnd];
}

function slicePieces(pieces: readonly Buffer[], start: number, end = Infinity): Buffer[] {
  let offset = 0;
  return pieces.flatMap((piece) => {
    const part = piece.subarray(Math.max(0, start - offset), Math.max(0, end - offset));
    offset += piece.length;
    return part.length === 0 ? [] : [part];
  });
}

function findNearStart(bytes: Buffer = emptyBuffer, model: unknown): NameSpan | undefined {
  // In Latin-1 each character is one byte, so positions are the same in the text and the bytes.
  const start = bytes.toString('latin1', 0, searchedBytes);
  const position = start.indexOf(quotedKey);
  if (position === -1) return undefined;
  return findModel(start.slice(0, position + quotedKey.length + maxModelLength), model);
}

function findAfterLongTexts({ text, uncutBytes, pieces }: BodyOutline, model: unknown): NameSpan | undefined {
  const span = findModel(text, model);
  if (span === undefined) return undefined;
  // After all long texts, the outline and the body end with the same bytes.
  const bytesToEnd = Buffer.byteLength(text.slice(span.start));
  if (bytesToEnd > uncutBytes) return undefined;
  const start = pieces.reduce((sum, { length }) => sum + length, -bytesToEnd);
  return { start, end: start + Buffer.byteLength(text.slice(span.start, span.end)) };
}

function findModel(text: string, model: unknown): NameSpan | undefined {
  const cursor = new JsonCursor(text);
  const name = cursor.enterMember('model') && cursor.readValue();
  if (name === undefined || !equalsText(name, model)) return undefined;
  return { start: cursor.position - name.length, end: cursor.position };
}

function equalsText(json: string, text: unknown): boolean {
  return json === JSON.stringify(text) || (json.includes('\\') && parseJson(json) === text);
}
