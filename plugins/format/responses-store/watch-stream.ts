import type { Readable } from 'node:stream';
import { ReplyStream } from '#core/pipeline/reply-stream.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { SseFramer } from '#core/model-call/sse-framer.ts';
import { type Recorder, tooLarge } from './recorder.ts';
import { outputOf } from './rows.ts';

/** Inside of strings quotes are escaped: these stand only where an event says its type. */
const endings = ['"response.completed"', '"response.incomplete"'].map((text) => Buffer.from(text));
const itemDone = Buffer.from('"response.output_item.done"');
/** In every event that holds the response itself. */
const responseMember = Buffer.from('"response"');
const blankLines = ['\n\n', '\r\n\r\n', '\r\r'].map((text) => Buffer.from(text));

/**
 * A stream of Responses events that passes another one on as it comes, but for the event that ends the answer: it waits
 * until the answer is kept, so that whoever has seen the end can continue. Reads only as fast as it is read. Breaks off
 * as the other one does, with the same error.
 *
 * @param source delivers whole events in each chunk
 * @param note takes what is to be said of an answer that was to be kept, and is not; the client's headers are gone by then
 */
export function watchStream(source: Readable, recorder: Recorder, note: (text: string) => void): Readable {
  const collector = new OutputCollector(recorder.maxBytes);
  let holding: Promise<void> | undefined;
  const passing = new ReplyStream({
    read: () => {
      if (holding === undefined) source.resume();
    },
    close: () => void source.destroy(),
  });
  const keep = async (chunk: Buffer): Promise<void> => {
    const response = collector.responseIn(chunk);
    const loss = response === undefined ? collector.loss : await recorder.save(response);
    if (loss !== undefined) note(loss);
  };
  const release = (chunk: Buffer): void => {
    holding = undefined;
    if (!passing.destroyed && passing.push(chunk)) source.resume();
  };
  /** What comes after an event that waits has to wait too. */
  const afterHold = (then: () => void) => void (holding === undefined ? then() : holding.then(then));

  source.on('data', (received: Buffer) => {
    const chunk =
      recorder.isContinued && received.includes(responseMember)
        ? Buffer.from(recorder.withPreviousId(received.toString()))
        : received;
    const begin = recorder.keeps ? beginOfEnding(chunk) : -1;
    if (begin === -1) {
      if (recorder.keeps && chunk.includes(itemDone)) collector.add(chunk);
      if (!passing.push(chunk)) source.pause();
      return;
    }
    source.pause();
    if (begin > 0) passing.push(chunk.subarray(0, begin));
    holding = keep(chunk).then(() => release(chunk.subarray(begin)));
  });
  source.once('end', () =>
    afterHold(() => {
      if (!passing.destroyed) passing.push(null);
    }),
  );
  source.once('error', (error) => afterHold(() => passing.breakOff(error)));
  source.once('close', () => {
    if (!source.readableEnded && source.errored === null)
      afterHold(() => passing.breakOff(new Error('the answer was closed before its end')));
  });
  return passing;
}

/** Index at which the event that ends the answer begins; -1 when it is not in this chunk. */
function beginOfEnding(chunk: Buffer): number {
  for (const ending of endings) {
    const at = chunk.indexOf(ending);
    if (at === -1) continue;
    return Math.max(...blankLines.map((blank) => afterLast(chunk, blank, at)));
  }
  return -1;
}

function afterLast(chunk: Buffer, blank: Buffer, before: number): number {
  const at = chunk.lastIndexOf(blank, before);
  return at === -1 ? 0 : at + blank.length;
}

/** Finds the response at the end of a stream, and its output in the events before when the end does not repeat it. */
class OutputCollector {
  #chunks: Buffer[] = [];
  #room: number;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  /** Takes a chunk in which an item is done. They are read only when it comes to that. */
  add(chunk: Buffer): void {
    this.#room -= chunk.length;
    if (this.#room >= 0) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  /** What is to be said when there is no response to keep. */
  get loss(): string | undefined {
    return this.#room < 0 ? tooLarge : undefined;
  }

  /** The response in the event that ends the answer; undefined when there is none, or it is too large to be kept. */
  responseIn(chunk: Buffer): JsonObject | undefined {
    const events = eventsIn([chunk]);
    const response = events.find(({ type }) => type === 'response.completed' || type === 'response.incomplete')?.[
      'response'
    ];
    if (!isJsonObject(response)) return undefined;
    if (outputOf(response).length > 0) return response;
    if (this.#room < 0) return undefined;
    const items = eventsIn([...this.#chunks, chunk]).flatMap(itemOf);
    return { ...response, output: items };
  }
}

function itemOf({ type, item }: JsonObject): JsonValue[] {
  return type === 'response.output_item.done' && isJsonObject(item) ? [item] : [];
}

function eventsIn(chunks: readonly Buffer[]): JsonObject[] {
  const framer = new SseFramer();
  return chunks
    .flatMap((chunk) => framer.push(chunk))
    .map((event) => event.parse())
    .filter((event) => event !== undefined);
}
