/**
 * Small requests and health checks beside an attack, in a thread of their own with an upstream of their own, so that
 * building and reading large bodies does not delay what they measure.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { Agent, request } from 'undici';

/** What the bystanders saw. */
export interface Seen {
  /** Of small requests with a key, by status or error. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly requests: readonly number[]; // ms
  readonly health: readonly number[]; // ms of `/livez`
}

interface Target {
  readonly url: string;
  readonly key: string;
}

const answer = JSON.stringify({
  id: 'chatcmpl-quick',
  object: 'chat.completion',
  created: 1,
  model: 'quick',
  choices: [{ index: 0, message: { role: 'assistant', content: 'quick' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const question = JSON.stringify({ model: 'quick', messages: [{ role: 'user', content: 'hi' }] });
const pause = 40; // ms between two requests
const clients = 4;
/** Tells its thread from those of other code that loads this file. */
const role = 'bystanders';

/** The bystanders of one attack. Their gateway.yaml has the model `quick` at `upstream`. */
export class Bystanders implements AsyncDisposable {
  readonly #worker: Worker;
  readonly upstream: string;

  private constructor(worker: Worker, upstream: string) {
    this.#worker = worker;
    this.upstream = upstream;
  }

  static async open(): Promise<Bystanders> {
    const worker = new Worker(new URL(import.meta.url), { workerData: role });
    return new Bystanders(worker, await answerOf<string>(worker));
  }

  begin(target: Target): void {
    const port = this.#worker;
    port.postMessage(target);
  }

  async end(): Promise<Seen> {
    const port = this.#worker;
    port.postMessage('end');
    return answerOf<Seen>(port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function answerOf<T>(worker: Worker): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  worker.once('message', resolve);
  worker.once('error', reject);
  return promise;
}

async function ask({ url, key }: Target, seen: Seen & { statuses: Record<string, number> }, dispatcher: Agent) {
  const timed = async (path: string, times: number[], options: object): Promise<string> => {
    const began = performance.now();
    try {
      const { statusCode, body } = await request(url + path, { dispatcher, ...options });
      await body.dump();
      times.push(performance.now() - began);
      return String(statusCode);
    } catch (error) {
      return String((error as { code?: string }).code ?? error);
    }
  };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = { method: 'POST', headers, body: question };
  const status = await timed('/v1/chat/completions', seen.requests as number[], post);
  seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
  await timed('/livez', seen.health as number[], {});
}

async function watch(target: Target): Promise<Seen> {
  const seen = { statuses: {}, requests: [], health: [] };
  const over = new AbortController();
  parentPort?.once('message', () => over.abort());
  const dispatcher = new Agent({ connections: 2 * clients });
  const client = async () => {
    while (!over.signal.aborted) {
      await ask(target, seen, dispatcher);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await dispatcher.destroy();
  return seen;
}

if (workerData === role && parentPort !== null) {
  const port = parentPort;
  const server = createServer((incoming, response) => {
    incoming.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer));
  });
  server.listen(0, '127.0.0.1', () => {
    port.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    port.once('message', (target: Target) => void watch(target).then((seen) => port.postMessage(seen)));
  });
}
