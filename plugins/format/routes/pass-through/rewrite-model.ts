import { findMember } from '#core/platform/json-scan.ts';
import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import type { RequestContent } from '../../request/request-content.ts';

const quickBytes = 4_096; // beginning of a body that is searched first: clients name the model early
const key = '"model"';
const longestModel = 512;

/**
 * Replaces the model's name in the body and keeps every other byte, so that unknown members, large numbers and white space
 * survive.
 *
 * @param content must name the model only once, see `isAmbiguous`
 * @param given the name as read by the parser
 */
export function rewriteModel(content: RequestContent, given: unknown, model: string): UpstreamRequest['body'] {
  if (given === model) return content.sent;
  const { cut } = content;
  const pieces = cut?.pieces ?? [content.bytes];
  const place = findQuickly(pieces[0], given) ?? (cut && findBehindCuts(cut, given));
  if (place !== undefined) return replaced(pieces, place, Buffer.from(JSON.stringify(model)));
  const { text } = content;
  const found = findModel(text, given);
  if (found === undefined) return JSON.stringify({ ...content.body, model });
  return text.slice(0, found.begin) + JSON.stringify(model) + text.slice(found.end);
}

/** Replaces bytes in a body of several pieces. Short pieces are joined, because each piece costs a write. */
function replaced(pieces: readonly Buffer[], { begin, end }: Span, bytes: Buffer): UpstreamRequest['body'] {
  const [only = nothing] = pieces;
  if (pieces.length === 1 && only.length <= quickBytes)
    return Buffer.concat([only.subarray(0, begin), bytes, only.subarray(end)]);
  const before = slice(pieces, 0, begin);
  const after = slice(pieces, end);
  const [first = nothing, ...others] = after;
  const isShort = others.length === 0 && first.length <= quickBytes;
  const written = [bytes, ...(isShort ? [first] : [])];
  const rest = isShort ? [] : after;
  if (begin > quickBytes) return [...before, Buffer.concat(written), ...rest];
  const head = Buffer.concat([...before, ...written]);
  return rest.length === 0 ? head : [head, ...rest];
}

/** The bytes between two positions, which may be inside a piece. */
function slice(pieces: readonly Buffer[], from: number, to = Infinity): Buffer[] {
  let offset = 0;
  return pieces.flatMap((piece) => {
    const part = piece.subarray(Math.max(0, from - offset), Math.max(0, to - offset));
    offset += piece.length;
    return part.length === 0 ? [] : [part];
  });
}

const nothing = Buffer.alloc(0);

/** Searches only the beginning of the body, without reading a long prompt. */
function findQuickly(bytes: Buffer = nothing, model: unknown): Span | undefined {
  // Latin-1 has one byte per character, so that positions are the same in the text and the bytes.
  const beginning = bytes.toString('latin1', 0, quickBytes);
  const at = beginning.indexOf(key);
  if (at === -1) return undefined;
  return findModel(beginning.slice(0, at + key.length + longestModel), model);
}

/** Finds a name after all long texts, where the rest of the outline equals the end of the body. */
function findBehindCuts({ text, uncut, pieces }: BodyOutline, model: unknown): Span | undefined {
  const found = findModel(text, model);
  if (found === undefined) return undefined;
  const follows = Buffer.byteLength(text.slice(found.begin));
  if (follows > uncut) return undefined;
  const begin = pieces.reduce((sum, { length }) => sum + length, -follows);
  return { begin, end: begin + Buffer.byteLength(text.slice(found.begin, found.end)) };
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Undefined if the text does not hold the name that the parser read. */
function findModel(text: string, model: unknown): Span | undefined {
  const found = findMember(text, 'model');
  return found !== undefined && isText(text.slice(found.begin, found.end), model) ? found : undefined;
}

/** Whether the JSON string has this value, whichever escapes it uses. */
function isText(json: string, text: unknown): boolean {
  if (json === JSON.stringify(text)) return true;
  try {
    return json.includes('\\') && JSON.parse(json) === text;
  } catch {
    return false;
  }
}
