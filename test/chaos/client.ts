import { createParser } from 'eventsource-parser';
import { Agent, type Dispatcher, request } from 'undici';
import { type ChaosRequest, pathOf } from './answers.ts';
import { noteRead, type Reading, readEvent, readWhole } from './reading.ts';

export interface Question extends ChaosRequest {
  /** Leaves at the first content, or when the promise resolves. */
  readonly leave?: 'at content' | Promise<unknown>;
}

/**
 * How a request ended for the client.
 *
 * - `complete`: a whole answer that ended as its format requires.
 * - `error`: a stream that ended with an error in the client's format, and without the end of its body.
 * - `refused`: an error status with a body in the client's format.
 * - `malformed`: something the client's format does not allow, or a failed stream with the end of its body.
 * - `truncated`: an answer that ended early without an error.
 * - `cut`: the connection broke after the head, without an error in the client's format.
 * - `none`: no response headers arrived.
 * - `left`: the client closed the connection.
 */
export type Ending = 'complete' | 'error' | 'refused' | 'malformed' | 'truncated' | 'cut' | 'none' | 'left';

/** What a client saw of one request. */
export interface Observation {
  /** The user agent of the request, which identifies its record. */
  readonly serial: string;
  readonly question: Question;
  readonly status: number | undefined;
  readonly ending: Ending;
  readonly text: string;
  /** Code or type of the error in the answer. */
  readonly code: string | undefined;
  /** The last bytes of an answer that was refused, malformed or truncated, with its content type. */
  readonly received: string | undefined;
  readonly sentAt: number; // on the clock of performance.now(), as the next
  readonly endedAt: number;
}

/** Characters of an answer that are kept to be shown. */
const longestExcerpt = 300;

let count = 0;

/** A client of one gateway. It retries nothing. */
export class Client implements AsyncDisposable {
  readonly #agent: Agent;
  readonly #url: string;
  readonly #key: string;

  /** @param timeout ms that it waits for the gateway */
  constructor(url: string, key: string, timeout = 60_000) {
    this.#agent = new Agent({ connections: 1_024, headersTimeout: timeout, bodyTimeout: timeout });
    this.#url = url;
    this.#key = key;
  }

  /** Sends a request and reads its answer to the end. Never throws. */
  async ask(question: Question): Promise<Observation> {
    const serial = `chaos-${++count}`;
    const sentAt = performance.now();
    const leaving = new AbortController();
    if (question.leave instanceof Promise) void question.leave.then(() => leaving.abort());
    const reading: Reading = { text: '', isComplete: false, isMalformed: false, code: undefined, received: '' };
    let status: number | undefined;
    let ending: Ending;
    try {
      const response = await request(`${this.#url}${pathOf(question)}`, {
        dispatcher: this.#agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#key}`, 'user-agent': serial },
        body: JSON.stringify(bodyOf(question, serial)),
        signal: leaving.signal,
      });
      status = response.statusCode;
      await read(response, question, reading, () => leaving.abort());
      ending = endingOf(status, reading);
    } catch {
      ending = leaving.signal.aborted ? 'left' : brokenEndingOf(status, question, reading);
    }
    const { text, code } = reading;
    const received = ['malformed', 'truncated', 'refused'].includes(ending) ? reading.received : undefined;
    return { serial, question, status, ending, text, code, received, sentAt, endedAt: performance.now() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#agent.destroy();
  }
}

/** @param prompt one of its own for each request: a conversation leaves a route to others once it was failed twice */
function bodyOf({ format, model, isStream }: Question, prompt: string): object {
  const messages = [{ role: 'user', content: prompt }];
  if (format === 'gemini') return { contents: [{ role: 'user', parts: [{ text: prompt }] }] };
  if (format === 'responses') return { model, input: prompt, stream: isStream };
  return { model, messages, max_tokens: 100, stream: isStream };
}

async function read(
  { body, headers }: Dispatcher.ResponseData,
  { format, leave }: Question,
  reading: Reading,
  goAway: () => void,
): Promise<void> {
  const type = headers['content-type']?.toString();
  const receive = (text: string) => (reading.received = (reading.received + text).slice(-longestExcerpt));
  receive(`${type}: `);
  if (type?.startsWith('text/event-stream') !== true) {
    const text = await body.text();
    receive(text);
    readWhole(format, text, reading);
    return;
  }
  const parser = createParser({ onEvent: ({ data }) => readEvent(format, data, reading) });
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const text = decoder.decode(chunk as Buffer, { stream: true });
    receive(text);
    parser.feed(text);
    noteRead(reading);
    if (leave === 'at content' && reading.text !== '') goAway();
  }
}

function endingOf(status: number, reading: Reading): Ending {
  if (reading.isMalformed) return 'malformed';
  if (status >= 400) return reading.code === undefined ? 'malformed' : 'refused';
  if (reading.code !== undefined) return 'malformed';
  return reading.isComplete ? 'complete' : 'truncated';
}

function brokenEndingOf(status: number | undefined, { isStream }: Question, reading: Reading): Ending {
  if (status === undefined) return 'none';
  if (reading.isMalformed) return 'malformed';
  return isStream && reading.code !== undefined ? 'error' : 'cut';
}
