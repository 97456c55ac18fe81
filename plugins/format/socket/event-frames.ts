import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';

/** An event of a stream. */
export interface FramedEvent {
  readonly name: string;
  /** JSON as a string with one character per byte: dozens of small events cost a fraction of the cost as buffers. */
  readonly data: string;
}

const eventField = 'event: ';
const dataField = 'data: ';
const endMark = '[DONE]';

/** Converts a text to a string with one character per UTF-8 byte. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Converts a string with one character per UTF-8 byte back to text. */
export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** The events in a chunk of a stream, which has only whole events. Events without data only keep a connection alive and are omitted. */
export function eventsOf(chunk: Buffer): readonly FramedEvent[] {
  const bytes = chunk.toString('latin1');
  const events: FramedEvent[] = [];
  for (let begin = 0, end = 0; begin < bytes.length; begin = end + 2) {
    end = bytes.indexOf('\n\n', begin);
    const event = end === -1 ? undefined : plainEvent(bytes, begin, end);
    if (event === undefined) return [...events, ...framed(chunk.subarray(begin))];
    events.push(event);
  }
  return events;
}

/** Reads an event as the gateway writes it: one line with the name and one with the data. */
function plainEvent(bytes: string, begin: number, end: number): FramedEvent | undefined {
  if (!bytes.startsWith(eventField, begin)) return undefined;
  const lineEnd = bytes.indexOf('\n', begin);
  if (lineEnd >= end || !bytes.startsWith(dataField, lineEnd + 1)) return undefined;
  const dataBegin = lineEnd + 1 + dataField.length;
  // The blank line begins with the first line feed after the data.
  if (bytes.indexOf('\n', dataBegin) !== end || bytes[end - 1] === '\r') return undefined;
  return { name: bytes.slice(begin + eventField.length, lineEnd), data: bytes.slice(dataBegin, end) };
}

/** Reads events in any other spelling. */
function framed(bytes: Buffer): FramedEvent[] {
  const framer = new SseFramer();
  return [...framer.push(bytes), ...framer.end()].flatMap((event) => {
    const { data, name } = event;
    if (data === undefined || data === endMark) return [];
    const type = name ?? event.parse()?.['type'];
    return typeof type === 'string' ? [{ name: type, data: bytesOf(data) }] : [];
  });
}

/** The opening of payloads in a named lane, which replaces their first brace. */
export function laneOpening(streamId: string | undefined): string | undefined {
  // The name of a lane needs no escapes.
  return streamId === undefined ? undefined : `{"stream_id":"${streamId}",`;
}

/** The payload of an event. @param data a JSON object, one character per byte @param opening opening of its lane */
export function inLane(data: string, opening: string | undefined): string {
  // Every event has members.
  return opening === undefined ? data : opening + data.slice(data.indexOf('{') + 1);
}
