import { findMember } from '#core/platform/json-scan.ts';
import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { BodyOutline } from '#core/gateway/pipeline/exchange.ts';
import type { RequestContent } from '../../request/request-content.ts';

const quickBytes = 4_096; // bytes at the beginning of a body that are searched first: clients name the model early
const key = '"model"';
const longestModel = 512;

/**
 * Returns the body with another model name in it and every other byte as it was, so that fields we do not know, big
 * numbers and spacing survive.
 *
 * @param content names the model once, see `isAmbiguous`
 * @param given the name as the parser has read it
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

/** Replaces bytes in pieces. A short beginning, or all of a short body, is joined with them: each piece is a write. */
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

/** The pieces from one place to another, which may be in the middle of them. */
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
  // One character a byte, so that positions are the same in both.
  const beginning = bytes.toString('latin1', 0, quickBytes);
  const at = beginning.indexOf(key);
  if (at === -1) return undefined;
  return findModel(beginning.slice(0, at + key.length + longestModel), model);
}

/** Finds a name after all long texts: the rest of the outline equals the end of the body. */
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

/** Undefined when another name than the parser's stands there. */
function findModel(text: string, model: unknown): Span | undefined {
  const found = findMember(text, 'model');
  return found !== undefined && isText(text.slice(found.begin, found.end), model) ? found : undefined;
}

/** True for the JSON of a text with any escapes. */
function isText(json: string, text: unknown): boolean {
  if (json === JSON.stringify(text)) return true;
  try {
    return json.includes('\\') && JSON.parse(json) === text;
  } catch {
    return false;
  }
}
