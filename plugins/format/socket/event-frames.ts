import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';

export interface FramedEvent {
  readonly name: string;
  /** JSON as a string with one character per byte. Many small strings cost a fraction of as many buffers. */
  readonly data: string;
}

const eventField = 'event: ';
const dataField = 'data: ';

/** Converts a text to a string with one character per UTF-8 byte. */
export function toByteString(text: string): string {
  return Buffer.from(text).toString('latin1');
}

export function fromByteString(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** Parses a chunk of complete events. Skips events without data, which only keep the connection alive. */
export function parseEvents(chunk: Buffer): readonly FramedEvent[] {
  const bytes = chunk.toString('latin1');
  const events: FramedEvent[] = [];
  for (let start = 0, end = 0; start < bytes.length; start = end + 2) {
    end = bytes.indexOf('\n\n', start);
    const event = end === -1 ? undefined : parsePlainEvent(bytes, start, end);
    if (event === undefined) return [...events, ...parseOtherEvents(chunk.subarray(start))];
    events.push(event);
  }
  return events;
}

/** Parses an event in the form that the gateway writes: a line with the name and a line with the data. */
function parsePlainEvent(bytes: string, start: number, end: number): FramedEvent | undefined {
  if (!bytes.startsWith(eventField, start)) return undefined;
  const lineEnd = bytes.indexOf('\n', start);
  if (lineEnd >= end || !bytes.startsWith(dataField, lineEnd + 1)) return undefined;
  const dataStart = lineEnd + 1 + dataField.length;
  // The event's blank line must begin with the first line feed after the data.
  if (bytes.indexOf('\n', dataStart) !== end || bytes[end - 1] === '\r') return undefined;
  return { name: bytes.slice(start + eventField.length, lineEnd), data: bytes.slice(dataStart, end) };
}

function parseOtherEvents(bytes: Buffer): FramedEvent[] {
  const framer = new SseFramer();
  return [...framer.push(bytes), ...framer.end()].flatMap((event) => {
    const { data, name } = event;
    if (data === undefined || data === '[DONE]') return [];
    const type = name ?? event.parse()?.['type'];
    return typeof type === 'string' ? [{ name: type, data: toByteString(data) }] : [];
  });
}

/** Creates the text that replaces a payload's first brace in a named lane; undefined for the unnamed lane. */
export function createLanePrefix(streamId: string | undefined): string | undefined {
  // Lane names need no escapes.
  return streamId === undefined ? undefined : `{"stream_id":"${streamId}",`;
}

/** @param data a JSON object, one character per byte */
export function writePayload(data: string, lanePrefix: string | undefined): string {
  // Events always have members, so a comma is always valid here.
  return lanePrefix === undefined ? data : lanePrefix + data.slice(data.indexOf('{') + 1);
}
