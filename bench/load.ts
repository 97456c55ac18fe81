import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface Load {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  readonly requests: number; // per round
  readonly concurrency: number;
  readonly unitsPerRequest: number; // what the CPU time is divided by: 1, or the number of events in a stream
  /** A multiple of the bare forwarder's CPU time (docs/performance.md) or, for a translated stream, of the time to pass it through. */
  readonly aim: number;
}

/** Closes idle connections early. LiteLLM closes its own after five seconds, which could happen just as a request is sent on one. */
const agent = new Agent({ connections: 256, keepAliveTimeout: 2_000, bodyTimeout: 60_000 });

/** `headers` are sent in addition to those of every client. Throws if a status is not 200. */
export async function sendLoad(
  port: number,
  key: string,
  load: Load,
  requests: number = load.requests,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  let left = requests;
  const worker = async () => {
    while (left-- > 0) {
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${load.path}`, {
        dispatcher: agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: load.body,
      });
      if (statusCode !== 200) throw new Error(`${load.name}: status ${statusCode}: ${await body.text()}`);
      await body.dump({ limit: 10_000_000 });
    }
  };
  await Promise.all(Array.from({ length: load.concurrency }, worker));
}

/** `rate` is per second. Returns the ms of each request, from when it was due. */
export async function sendSteadily(
  port: number,
  key: string,
  load: Load,
  rate: number,
  requests: number = load.requests,
): Promise<number[]> {
  const began = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < requests) {
    const due = began + (sent.length * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    else sent.push(sendLoad(port, key, { ...load, concurrency: 1 }, 1).then(() => performance.now() - due));
  }
  return Promise.all(sent);
}

const chat = '/v1/chat/completions';
const message = (content: string, model = 'bench') => ({ model, messages: [{ role: 'user', content }] });

export const loads: readonly Load[] = [
  {
    name: 'small chat call',
    path: chat,
    body: JSON.stringify(message('y'.repeat(1_100))),
    requests: 4_000,
    concurrency: 32,
    unitsPerRequest: 1,
    aim: 1.8,
  },
  {
    name: '100 KB prompt',
    path: chat,
    body: JSON.stringify(message('lorem ipsum "dolor" '.repeat(5_000))),
    requests: 1_500,
    concurrency: 32,
    unitsPerRequest: 1,
    aim: 1.8,
  },
  {
    name: 'stream of 200 events',
    path: chat,
    body: JSON.stringify({ ...message('z'), stream: true }),
    requests: 200,
    concurrency: 100,
    unitsPerRequest: 200,
    aim: 1,
  },
  {
    name: '1 MB prompt',
    path: chat,
    body: JSON.stringify(message('lorem ipsum "dolor" '.repeat(50_000))),
    requests: 300,
    concurrency: 8,
    unitsPerRequest: 1,
    aim: 1.3,
  },
];

/** Path and model select the formats of client and upstream. */
function stream(name: string, path: string, model: string): Load {
  const body = JSON.stringify({ ...message('z', model), max_tokens: 1_000, stream: true });
  return { name, path, body, requests: 200, concurrency: 100, unitsPerRequest: 200, aim: 1.2 };
}

/** Each translated stream is compared with the stream that passes through from the same upstream. */
export const translations: readonly { readonly translated: Load; readonly passed: Load }[] = [
  {
    translated: stream('chat client, messages upstream', chat, 'bench-messages'),
    passed: stream('messages on both sides', '/v1/messages', 'bench-messages'),
  },
  {
    translated: stream('messages client, chat upstream', '/v1/messages', 'bench'),
    passed: stream('chat on both sides', chat, 'bench'),
  },
];
