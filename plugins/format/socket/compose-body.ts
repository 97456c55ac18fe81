import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import type { RawMember } from './member-spans.ts';
import type { ClientFrame, CreateFrame } from './read-frame.ts';

/** Members of an event that a POST does not have, or that have a different value there. */
const socketMembers = new Set(['type', 'stream', 'stream_id', 'generate', 'background', 'background_options']);
const replacedMembers = new Set([...socketMembers, 'previous_response_id', 'input']);

const [quote, openArray] = [0x22, 0x5b];
const bodyStart = Buffer.from('{"stream":true');
const separator = Buffer.from(',');
const inputStart = Buffer.from(',"input":[');
const inputEnd = Buffer.from(']');
const messageStart = Buffer.from('{"type":"message","role":"user","content":');
const bodyEnd = Buffer.from('}');
const noItems = Buffer.alloc(0);

/**
 * Writes the body of a POST from the bytes of a `response.create` event and the kept bytes. Long bytes are not copied. The body is valid
 * JSON if the event is.
 *
 * @param keptBytes items of the conversation to continue, as written by `separateItems`; undefined for a new conversation
 * @param newItems items that the event adds to them
 */
export function composeBody(
  frame: CreateFrame,
  keptBytes: readonly Buffer[] | undefined,
  newItems = readInputItems(frame),
): readonly Buffer[] {
  const head: Buffer[] = [bodyStart];
  for (const range of findKeptRanges(frame.members, keptBytes === undefined ? socketMembers : replacedMembers))
    head.push(separator, frame.bytes.subarray(range.start, range.end));
  if (keptBytes === undefined) return joinPieces([...head, bodyEnd]);
  const previousItems = keptBytes.filter(({ length }) => length > 0);
  const lastItems = previousItems.pop();
  if (lastItems !== undefined) previousItems.push(newItems.length > 0 ? lastItems : lastItems.subarray(0, -1));
  return [...joinPieces([...head, inputStart]), ...previousItems, ...joinPieces([newItems, inputEnd, bodyEnd])];
}

const maxJoinedBytes = 65_536; // up to this size, pieces are joined, because each costs a write to the system

function joinPieces(pieces: readonly Buffer[]): readonly Buffer[] {
  return sumSizes(pieces) > maxJoinedBytes ? pieces : [Buffer.concat(pieces)];
}

/** Writes items in their stored form: each ends with a separator, so that more items can follow. */
export function separateItems(items: readonly Buffer[]): readonly Buffer[] {
  return items.filter(({ length }) => length > 0).flatMap((item) => [item, separator]);
}

/** Reads the items that an event adds to its conversation, unparsed and without brackets. A string becomes a user message. */
export function readInputItems({ bytes, members }: ClientFrame): Buffer {
  const span = members.findLast(({ name }) => name === 'input');
  if (span === undefined) return noItems;
  const value = bytes.subarray(span.valueStart, span.end);
  if (value[0] === openArray) return trimSpace(value.subarray(1, -1));
  if (value[0] !== quote) return noItems;
  return Buffer.concat([messageStart, value, bodyEnd]);
}

function findKeptRanges(
  members: readonly RawMember[],
  omittedNames: ReadonlySet<string>,
): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  let isAdjacent = false;
  for (const { name, start, end } of members) {
    const lastRange = ranges.at(-1);
    const isKept = !omittedNames.has(name);
    if (isKept && isAdjacent && lastRange !== undefined) lastRange.end = end;
    else if (isKept) ranges.push({ start, end });
    isAdjacent = isKept;
  }
  return ranges;
}

function trimSpace(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && (bytes[start] as number) <= 0x20) start++;
  while (end > start && (bytes[end - 1] as number) <= 0x20) end--;
  return bytes.subarray(start, end);
}
