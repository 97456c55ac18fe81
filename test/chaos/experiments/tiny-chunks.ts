import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type Experiment, inParallel, noneOf } from '../figure.ts';
import { SmallGateway } from '../small-gateway.ts';

/** Bytes of the bodies, and how many forms there are at once. */
const sizes = { form: 60_000, request: [2_000_000, 8_000_000], answer: 3_200_000, forms: 40 };
const short = { form: 60_000, request: [300_000], answer: 300_000, forms: 20 };

/** Bodies in chunks of one byte, from callers without a key, from customers and from upstreams, at 512 MB. */
export const tinyChunks: Experiment = {
  name: 'tiny-chunks',
  description: 'bodies in chunks of one byte, to and from a gateway of 512 MB',
  async run({ postgres, isShort }) {
    const { form, request, answer, forms } = isShort ? short : sizes;
    await using gateway = await SmallGateway.start({
      postgres,
      megabytes: 512,
      models: { drips: (response) => void drip(response, answerOf(answer)), fine: (response) => sendWhole(response) },
    });
    const paths = ['/sign-in', '/preferences', '/hooks/midtrans'];
    const ofForms = await inParallel(forms, forms, (index) =>
      sendInBytes(gateway.url, paths[index % paths.length] as string, `next=${'x'.repeat(form)}`, {
        'content-type': 'application/x-www-form-urlencoded',
      }),
    );
    const authorization = `Bearer ${gateway.fixture.home.key}`;
    const ofRequests: SentInBytes[] = [];
    for (const size of request) {
      const body = JSON.stringify({ model: 'fine', messages: [{ role: 'user', content: 'x'.repeat(size) }] });
      ofRequests.push(await sendInBytes(gateway.url, '/v1/chat/completions', body, { authorization }));
    }
    const dripped = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'drips', messages: [{ role: 'user', content: 'hi' }] }),
    });
    const isWhole = (await dripped.text()).length >= answer;
    return [
      noneOf('forms without an answer', forms, describe(ofForms.filter(({ status }) => Number.isNaN(status)))),
      noneOf(
        'requests that were not served',
        request.length,
        describe(ofRequests.filter(({ status }) => status !== 200)),
      ),
      noneOf('answers that were cut', 1, dripped.status === 200 && isWhole ? [] : [String(dripped.status)]),
      ...(await gateway.figures('single bytes')),
    ];
  },
};

/** The status, NaN without an answer, and what was received. */
interface SentInBytes {
  readonly status: number;
  readonly received: string;
}

function describe(sent: readonly SentInBytes[]): string[] {
  return sent.map(
    ({ status, received }) => `${status} ${received.slice(received.indexOf('\r\n\r\n') + 4).slice(0, 300)}`,
  );
}

/** Each character a chunk. */
export async function sendInBytes(
  url: string,
  path: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<SentInBytes> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines.join('')}transfer-encoding: chunked\r\n\r\n`,
  );
  for await (const piece of inChunks(body)) {
    if (socket.destroyed || received !== '') break;
    if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  if (!socket.destroyed) socket.write('0\r\n\r\n');
  await closed;
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]), received };
}

/** Pieces of 10,000 chunks. */
function* inChunks(body: string): Generator<string> {
  for (let begin = 0; begin < body.length; begin += 10_000)
    yield body.slice(begin, begin + 10_000).replaceAll(/[^]/g, '1\r\n$&\r\n');
}

function answerOf(length: number): string {
  return JSON.stringify({
    id: 'chatcmpl-drips',
    object: 'chat.completion',
    created: 1,
    model: 'drips',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(length) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
}

function sendWhole(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerOf(10));
}

/** Writes past the server's own chunks. */
async function drip(response: ServerResponse, body: string): Promise<void> {
  const { socket } = response;
  if (socket === null) return;
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  for (const piece of inChunks(body)) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
  }
  socket.end('0\r\n\r\n');
}
