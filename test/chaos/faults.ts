import type { ScriptedResponse } from '../support/faulty-upstream.ts';
import type { Answer, AnswerEvent } from './answers.ts';

/** The request a fault happens to. */
export interface Scene {
  readonly response: ScriptedResponse;
  readonly answer: Answer;
  readonly isStream: boolean;
  /** Waits until the client has read the first word. */
  isRead(): Promise<void>;
}

export interface FaultScript {
  /** Also the name of the model with this fault. */
  readonly name: string;
  /**
   * `before`: nothing of the answer has reached the client, so it gets a whole one, from the backup unless the faulty
   * route's answer is usable. `after`: the client has begun to read and must get an explicit error.
   */
  readonly moment: 'before' | 'after';
  /** Timeouts of the route in seconds, by their names in gateway.yaml. Only for faults that show by waiting. */
  readonly limits?: Readonly<Record<string, number>>;
  /** True when the key, the model or the route cools down: later requests go to the backup at once. */
  readonly isRemembered?: boolean;
  /** What the upstream does; undefined where no upstream exists. */
  readonly play?: (scene: Scene) => void | Promise<void>;
  /** The name in gateway.yaml of an upstream that does not exist. */
  readonly upstream?: 'refusing' | 'black-hole' | 'nameless' | 'not-tls';
}

const json = { 'content-type': 'application/json' };
const page = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
const shortWait = 0.5;

const chunkedHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

/** Events in one chunk, and so in one packet. */
function chunk(events: readonly AnswerEvent[]): string {
  const text = events
    .map(({ name, data }) => `${name === undefined ? '' : `event: ${name}\n`}data: ${dataOf(data)}\n\n`)
    .join('');
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const dataOf = (data: object | string) => (typeof data === 'string' ? data : JSON.stringify(data));

/** Faults before the route has sent anything usable. */
const before: readonly FaultScript[] = [
  { name: 'connection-refused', moment: 'before', upstream: 'refusing' },
  { name: 'connect-black-hole', moment: 'before', upstream: 'black-hole', limits: { connect_timeout: shortWait } },
  { name: 'dns-failure', moment: 'before', upstream: 'nameless' },
  { name: 'tls-failure', moment: 'before', upstream: 'not-tls' },
  { name: 'reset-before-head', moment: 'before', play: ({ response }) => response.reset() },
  {
    name: 'stall-before-head',
    moment: 'before',
    limits: { first_byte_timeout: shortWait },
    play: () => undefined,
  },
  {
    name: 'not-http',
    moment: 'before',
    play: ({ response }) => {
      response.raw('220 mail.example.com ESMTP\r\n');
      response.cut();
    },
  },
  { name: 'status-500', moment: 'before', play: ({ response }) => response.json(500, refusal('server_error')) },
  { name: 'status-503', moment: 'before', play: ({ response }) => response.json(503, refusal('overloaded_error')) },
  {
    name: 'status-503-with-wait',
    moment: 'before',
    isRemembered: true,
    play: ({ response }) => response.json(503, refusal('overloaded_error'), { 'retry-after-ms': '1' }),
  },
  {
    name: 'status-429',
    moment: 'before',
    isRemembered: true,
    play: ({ response }) => response.json(429, refusal('rate_limit_error'), { 'retry-after-ms': '1' }),
  },
  {
    name: 'wrong-key-401',
    moment: 'before',
    isRemembered: true,
    play: ({ response }) => response.json(401, refusal('invalid_api_key')),
  },
  {
    name: 'html-502',
    moment: 'before',
    play: ({ response }) => response.send(502, { 'content-type': 'text/html' }, page),
  },
  {
    name: 'html-200',
    moment: 'before',
    play: ({ response }) => response.send(200, { 'content-type': 'text/html' }, page),
  },
  {
    name: 'error-inside-200',
    moment: 'before',
    play: async ({ response, answer, isStream }) => {
      if (!isStream) return response.json(200, refusal('server_error'));
      await stream(response, answer.failure);
      response.end();
    },
  },
  {
    name: 'capacity-as-400',
    moment: 'before',
    play: ({ response }) =>
      response.json(
        400,
        refusal('invalid_request_error', 'The engine is currently overloaded, please try again later'),
      ),
  },
  {
    name: 'html-404',
    moment: 'before',
    play: ({ response }) => response.send(404, { 'content-type': 'text/html' }, page),
  },
  {
    name: 'model-not-there-404',
    moment: 'before',
    isRemembered: true,
    play: ({ response }) => response.json(404, refusal('not_found_error', 'the model `there` does not exist')),
  },
  { name: 'redirect', moment: 'before', play: ({ response }) => response.send(302, { location: 'http://127.0.0.1/' }) },
  {
    name: 'empty-200',
    moment: 'before',
    play: ({ response, isStream }) => response.send(200, isStream ? { 'content-type': 'text/event-stream' } : json),
  },
  {
    name: 'other-kind',
    moment: 'before',
    // JSON where a stream was requested, and a stream where JSON was.
    play: async ({ response, answer, isStream }) => {
      if (isStream) return response.json(200, answer.whole);
      await stream(response, ...answer.opening, ...answer.words, ...answer.closing);
      response.end();
    },
  },
  {
    name: 'stall-after-head',
    moment: 'before',
    limits: { first_byte_timeout: shortWait, idle_timeout: shortWait },
    play: ({ response, isStream }) => response.head(200, isStream ? { 'content-type': 'text/event-stream' } : json),
  },
  {
    name: 'cut-before-content',
    moment: 'before',
    play: async ({ response, answer, isStream }) => {
      if (isStream) await stream(response, ...answer.opening);
      else await begin(response, answer);
      response.cut();
    },
  },
  {
    name: 'error-with-content',
    moment: 'before',
    play: ({ response, answer, isStream }) => {
      if (!isStream) return response.json(200, refusal('server_error'));
      response.raw(`${chunkedHead}${chunk([...answer.opening, ...answer.words.slice(0, 3), answer.failure])}`);
      response.cut();
    },
  },
  {
    name: 'garbage-with-content',
    moment: 'before',
    play: ({ response, answer, isStream }) => {
      const events = chunk([...answer.opening, ...answer.words.slice(0, 3)]);
      response.raw(isStream ? `${chunkedHead}${events}zz\r\n` : 'HTTP/1.1 200 OK\r\n: no name\r\n\r\n');
      response.cut();
    },
  },
  {
    name: 'broken-json',
    moment: 'before',
    play: async ({ response, answer, isStream }) => {
      if (!isStream) return response.send(200, json, JSON.stringify(answer.whole).slice(0, -20));
      await stream(response, { data: '{"choices":[{"delta"' });
      response.end();
    },
  },
];

/** Faults of a stream that the client has begun to read. */
const after: readonly FaultScript[] = [
  { name: 'cut', play: ({ response }: Scene) => response.cut() },
  { name: 'reset', play: ({ response }: Scene) => response.reset() },
  { name: 'stall', limits: { idle_timeout: shortWait }, play: () => undefined },
  {
    name: 'error-event',
    play: async ({ response, answer }: Scene) => {
      await write(response, answer.failure);
      response.end();
    },
  },
  { name: 'no-terminal-event', play: ({ response }: Scene) => response.end() },
  {
    name: 'garbage-event',
    play: async ({ response, answer }: Scene) => {
      await write(response, { data: '{"id": 12, <html>' });
      for (const event of [...answer.words.slice(3), ...answer.closing]) await write(response, event);
      response.end();
    },
  },
  {
    name: 'broken-chunk',
    play: ({ response }: Scene) => {
      response.raw('zz\r\nno chunk\r\n');
      response.cut();
    },
  },
].map((fault) => ({ ...fault, moment: 'after', play: (scene: Scene) => afterContent(scene, fault.play) }));

export const faultScripts: readonly FaultScript[] = [...before, ...after];

/** The upstream without a fault. */
export async function playFine({ response, answer, isStream }: Scene): Promise<void> {
  if (!isStream) return response.json(200, answer.whole);
  await stream(response, ...answer.opening, ...answer.words, ...answer.closing);
  response.end();
}

/** Begins a stream and holds it open after its first content. */
export async function playOpen({ response, answer }: Scene): Promise<void> {
  await stream(response, ...answer.opening, ...answer.words.slice(0, 3));
}

/** Completes a stream that `playOpen` has begun. */
export async function finish({ response, answer }: Scene): Promise<void> {
  for (const event of [...answer.words.slice(3), ...answer.closing]) await write(response, event);
  response.end();
}

async function afterContent(scene: Scene, fault: (scene: Scene) => void | Promise<void>): Promise<void> {
  // Only a stream has content before its end: the gateway holds a whole answer until it is complete.
  if (!scene.isStream) return playFine(scene);
  await playOpen(scene);
  await scene.isRead();
  return fault(scene);
}

async function stream(response: ScriptedResponse, ...events: readonly AnswerEvent[]): Promise<void> {
  response.sse();
  for (const event of events) await write(response, event);
}

function write(response: ScriptedResponse, { name, data }: AnswerEvent): Promise<void> {
  return response.event(data, name);
}

/** Half of a whole answer. */
async function begin(response: ScriptedResponse, { whole }: Answer): Promise<void> {
  const text = JSON.stringify(whole);
  response.head(200, { ...json, 'content-length': String(text.length) });
  await response.write(text.slice(0, text.length / 2));
}

function refusal(type: string, message = 'something is wrong here') {
  return { type: 'error', error: { type, message, code: null } };
}
