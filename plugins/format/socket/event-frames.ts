import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';

/** An event of a stream. */
export interface FramedEvent {
  readonly name: string;
  /** JSON as bytes, of which each is a character: dozens of small events cost a fraction of what they cost as buffers. */
  readonly data: string;
}

const eventField = 'event: ';
const dataField = 'data: ';
const endMark = '[DONE]';

/** The bytes of a text, of which each is a character. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The text of such bytes. */
export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

/** The events in a chunk of a stream, which holds whole ones. Those without data keep a connection alive, and are left out. */
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

/** An event as the gateway writes it: a line with its name, and one with its data. */
function plainEvent(bytes: string, begin: number, end: number): FramedEvent | undefined {
  if (!bytes.startsWith(eventField, begin)) return undefined;
  const lineEnd = bytes.indexOf('\n', begin);
  if (lineEnd >= end || !bytes.startsWith(dataField, lineEnd + 1)) return undefined;
  const dataBegin = lineEnd + 1 + dataField.length;
  // The blank line begins with the first line feed behind the data.
  if (bytes.indexOf('\n', dataBegin) !== end || bytes[end - 1] === '\r') return undefined;
  return { name: bytes.slice(begin + eventField.length, lineEnd), data: bytes.slice(dataBegin, end) };
}

/** Any other spelling of events. */
function framed(bytes: Buffer): FramedEvent[] {
  const framer = new SseFramer();
  return [...framer.push(bytes), ...framer.end()].flatMap((event) => {
    const { data, name } = event;
    if (data === undefined || data === endMark) return [];
    const type = name ?? event.parse()?.['type'];
    return typeof type === 'string' ? [{ name: type, data: bytesOf(data) }] : [];
  });
}

/** Begins the payloads of a lane with a name, in place of their brace. */
export function laneOpening(streamId: string | undefined): string | undefined {
  // The name of a lane needs no escapes.
  return streamId === undefined ? undefined : `{"stream_id":"${streamId}",`;
}

/** The payload of an event. @param data a JSON object, as bytes @param opening of its lane */
export function inLane(data: string, opening: string | undefined): string {
  // No event is without members.
  return opening === undefined ? data : opening + data.slice(data.indexOf('{') + 1);
}
