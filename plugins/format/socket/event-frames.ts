import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';

/** An event of a stream. */
export interface FramedEvent {
  readonly name: string;
  /** JSON. */
  readonly data: Buffer;
}

const lineFeed = 0x0a;
const eventField = Buffer.from('event: ');
const dataField = Buffer.from('data: ');
const blankLine = Buffer.from('\n\n');
const endMark = '[DONE]';

/** The events in a chunk of a stream, which holds whole ones. Those without data keep a connection alive, and are left out. */
export function eventsOf(chunk: Buffer): readonly FramedEvent[] {
  const events: FramedEvent[] = [];
  for (let begin = 0, end = 0; begin < chunk.length; begin = end + 2) {
    end = chunk.indexOf(blankLine, begin);
    const event = end === -1 ? undefined : plainEvent(chunk, begin, end);
    if (event === undefined) return [...events, ...framed(chunk.subarray(begin))];
    events.push(event);
  }
  return events;
}

/** An event as the gateway writes it: a line with its name, and one with its data. */
function plainEvent(chunk: Buffer, begin: number, end: number): FramedEvent | undefined {
  if (!startsWith(chunk, eventField, begin)) return undefined;
  const lineEnd = chunk.indexOf(lineFeed, begin);
  if (lineEnd >= end || !startsWith(chunk, dataField, lineEnd + 1)) return undefined;
  const dataBegin = lineEnd + 1 + dataField.length;
  // The blank line begins with the first line feed behind the data.
  if (chunk.indexOf(lineFeed, dataBegin) !== end || chunk[end - 1] === 0x0d) return undefined;
  return {
    name: chunk.toString('latin1', begin + eventField.length, lineEnd),
    data: chunk.subarray(dataBegin, end),
  };
}

function startsWith(chunk: Buffer, field: Buffer, at: number): boolean {
  return field.compare(chunk, at, Math.min(chunk.length, at + field.length)) === 0;
}

/** Any other spelling of events. */
function framed(bytes: Buffer): FramedEvent[] {
  const framer = new SseFramer();
  return [...framer.push(bytes), ...framer.end()].flatMap((event) => {
    const { data, name } = event;
    if (data === undefined || data === endMark) return [];
    const type = name ?? event.parse()?.['type'];
    return typeof type === 'string' ? [{ name: type, data: Buffer.from(data) }] : [];
  });
}

/** The frame of an event, for a lane with a name. @param data a JSON object */
export function inLane(data: Buffer, streamId: string | undefined): Buffer {
  if (streamId === undefined) return data;
  const begin = data.indexOf(0x7b) + 1;
  // No event is without members. The name of a lane needs no escapes.
  return Buffer.concat([Buffer.from(`{"stream_id":"${streamId}",`), data.subarray(begin)]);
}
