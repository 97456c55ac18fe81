import { sizeOf } from '#core/platform/memory/collected-bytes.ts';
import type { ClientFrame, CreateFrame } from './read-frame.ts';
import type { RawMember } from './member-spans.ts';

/** Members of an event that a POST does not have or that need a different value there. */
const ofSocket = new Set(['type', 'stream', 'stream_id', 'generate', 'background', 'background_options']);
/** Members that are replaced if the request continues a kept conversation. */
const replaced = new Set([...ofSocket, 'previous_response_id', 'input']);

const opening = Buffer.from('{"stream":true');
const separator = Buffer.from(',');
const inputOpening = Buffer.from(',"input":[');
const inputEnd = Buffer.from(']');
const closing = Buffer.from('}');
const nothing = Buffer.alloc(0);

/**
 * Writes a `response.create` as the body of a POST: the bytes of the event and the kept bytes, both without a copy if they are long. The
 * body is as valid as the event.
 *
 * @param kept items of the continued conversation, as `keptItems` wrote them; undefined for a whole request
 */
export function composeBody(frame: CreateFrame, kept: readonly Buffer[] | undefined): readonly Buffer[] {
  const head: Buffer[] = [opening];
  for (const run of runsOf(frame.members, kept === undefined ? ofSocket : replaced))
    head.push(separator, frame.bytes.subarray(run.begin, run.end));
  if (kept === undefined) return packed([...head, closing]);
  const own = ownItems(frame);
  const before = kept.filter(({ length }) => length > 0);
  const last = before.pop();
  if (last !== undefined) before.push(own.length > 0 ? last : last.subarray(0, -1));
  return [...packed([...head, inputOpening]), ...before, ...packed([own, inputEnd, closing])];
}

const short = 65_536; // bytes up to which pieces are joined: each piece is a separate write to the system

function packed(pieces: readonly Buffer[]): readonly Buffer[] {
  return sizeOf(pieces) > short ? pieces : [Buffer.concat(pieces)];
}

/** Items in the form in which they are kept: each ends with a separator, so that more items can follow. */
export function keptItems(items: readonly Buffer[]): readonly Buffer[] {
  return items.filter(({ length }) => length > 0).flatMap((item) => [item, separator]);
}

/** The items that an event adds to its conversation, unparsed and without brackets. A string becomes a user message. */
export function ownItems({ bytes, members }: ClientFrame): Buffer {
  const span = members.findLast(({ name }) => name === 'input');
  if (span === undefined) return nothing;
  const value = bytes.subarray(span.valueBegin, span.end);
  if (value[0] === 0x5b) return trimmed(value.subarray(1, -1));
  if (value[0] !== 0x22) return nothing;
  return Buffer.concat([messageOpening, value, closing]);
}

const messageOpening = Buffer.from('{"type":"message","role":"user","content":');

/** Joins adjacent members that are kept into one range of bytes. */
function runsOf(members: readonly RawMember[], left: ReadonlySet<string>): { begin: number; end: number }[] {
  const runs: { begin: number; end: number }[] = [];
  let isOpen = false;
  for (const { name, begin, end } of members) {
    const last = runs.at(-1);
    const stays = !left.has(name);
    if (stays && isOpen && last !== undefined) last.end = end;
    else if (stays) runs.push({ begin, end });
    isOpen = stays;
  }
  return runs;
}

function trimmed(bytes: Buffer): Buffer {
  let begin = 0;
  let end = bytes.length;
  while (begin < end && (bytes[begin] as number) <= 0x20) begin++;
  while (end > begin && (bytes[end - 1] as number) <= 0x20) end--;
  return bytes.subarray(begin, end);
}
