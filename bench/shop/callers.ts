/** The benchmark's customers. Each call uses the next key. */
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export const generators = ['http', 'undici'] as const;
export type Generator = (typeof generators)[number];

export interface Target {
  readonly port: number;
  readonly keys: readonly string[];
}

type Call = (target: Target, body: string) => Promise<number>; // ms until the answer's first chunk; throws unless the status is 200

const path = '/v1/chat/completions';
const httpAgent = new HttpAgent({ keepAlive: true, maxSockets: 256 });
const undiciAgent = new Agent({ connections: 256, keepAliveTimeout: 2_000 });
let calls = 0;

const calling: Readonly<Record<Generator, Call>> = {
  /** Reads each answer the way an SDK does. */
  http: (target, body) =>
    new Promise((resolve, reject) => {
      const began = performance.now();
      const headers = { ...headersFor(target), 'content-length': Buffer.byteLength(body) };
      const outgoing = httpRequest(
        { agent: httpAgent, host: '127.0.0.1', port: target.port, path, method: 'POST', headers },
        (answer) => {
          const chunks: Buffer[] = [];
          let first = Number.NaN;
          answer.once('data', () => (first = performance.now() - began));
          answer.on('data', (chunk: Buffer) => chunks.push(chunk));
          answer.on('error', reject);
          answer.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if (answer.statusCode !== 200) return reject(new Error(`status ${answer.statusCode}: ${text}`));
            if (answer.headers['content-type'] === 'application/json') JSON.parse(text);
            resolve(first);
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    }),
  async undici(target, body) {
    const began = performance.now();
    const answer = await request(`http://127.0.0.1:${target.port}${path}`, {
      dispatcher: undiciAgent,
      method: 'POST',
      headers: headersFor(target),
      body,
    });
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}: ${await answer.body.text()}`);
    const first = once(answer.body, 'data').then(() => performance.now() - began);
    answer.body.resume();
    await once(answer.body, 'end');
    return first;
  },
};

function headersFor({ keys }: Target): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${keys[calls++ % keys.length]}` };
}

export async function callAtOnce(by: Generator, target: Target, body: string, count: number, atOnce = 32) {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await calling[by](target, body);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

export async function callOneByOne(by: Generator, target: Target, body: string, count: number): Promise<number[]> {
  const times: number[] = [];
  while (times.length < count) times.push(await calling[by](target, body));
  return times;
}

export async function callAtRate(by: Generator, target: Target, body: string, count: number, callsPerSecond: number) {
  const began = performance.now();
  const sent: Promise<number>[] = [];
  while (sent.length < count) {
    const wait = began + (sent.length * 1000) / callsPerSecond - performance.now();
    if (wait > 0) await sleep(wait);
    else sent.push(calling[by](target, body));
  }
  await Promise.all(sent);
}
