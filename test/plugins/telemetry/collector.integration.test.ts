import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { Collector } from '../../../plugins/telemetry/collector.ts';
import { readProtobuf } from '../../../plugins/telemetry/protobuf.ts';

type Protocol = 'http/protobuf' | 'http/json';

/** What becomes of one span at a collector that answers so. @param timeout s */
async function sendTo(answer: RequestListener, timeout: number, protocol: Protocol = 'http/protobuf') {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new Collector({ endpoint, protocol, headers: '', timeout }, { attributes: [] }).send('traces', [{}]);
}

it('an answer without an end is not read until the timeout', async () => {
  const piece = Buffer.alloc(65_536, 32);
  const began = performance.now();
  const sent = await sendTo((_request, response) => {
    const write = () => void (!response.destroyed && response.write(piece, () => setImmediate(write)));
    write();
  }, 30);
  expect(sent).toMatchObject({ kind: 'taken', rejected: 0 });
  expect(performance.now() - began).toBeLessThan(20_000);
});

it.each<[string, RequestListener]>([
  ['a collector that takes the connection and never answers', () => undefined],
  ['a collector that stops after its head', (_request, response) => response.flushHeaders()],
])('%s is asked again later', async (_, answer) => {
  expect(await sendTo(answer, 0.2)).toMatchObject({ kind: 'later', retryAfterMs: 0 });
});

it.each<[Protocol, string, (body: Buffer) => unknown]>([
  ['http/protobuf', 'application/x-protobuf', (body) => [...readProtobuf(body).keys()]],
  ['http/json', 'application/json', (body) => Object.keys(JSON.parse(String(body)) as object)],
])('%s is sent as %s', async (protocol, type, read) => {
  let sent: unknown;
  const answer: RequestListener = async (request, response) => {
    sent = [request.headers['content-type'], read(gunzipSync(await buffer(request)))];
    response.end();
  };
  expect(await sendTo(answer, 30, protocol)).toMatchObject({ kind: 'taken', rejected: 0 });
  expect(sent).toEqual([type, [protocol === 'http/json' ? 'resourceSpans' : 1]]);
});

const protobuf = 'application/x-protobuf';
it.each<[string, number, string, Buffer, object]>([
  [
    'what a collector rejects of a request is counted, with its reason',
    200,
    protobuf,
    // partial_success { rejected: 300, error_message: "too old" }
    Buffer.from('0a0c08ac021207746f6f206f6c64', 'hex'),
    { kind: 'taken', rejected: 300, reason: 'too old' },
  ],
  [
    'the same in JSON',
    200,
    'application/json',
    Buffer.from('{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}'),
    { kind: 'taken', rejected: 3, reason: 'too old' },
  ],
  [
    'an answer in JSON without a part that was rejected',
    200,
    'application/json',
    Buffer.from('{"partialSuccess":null}'),
    { kind: 'taken', rejected: 0, reason: '' },
  ],
  [
    'a refusal says why in its message',
    400,
    protobuf,
    // google.rpc.Status { code: 3, message: "no tenant" }
    Buffer.from('080312096e6f2074656e616e74', 'hex'),
    { kind: 'refused', reason: 'status 400: no tenant' },
  ],
  [
    'or in JSON',
    503,
    'application/json; charset=utf-8',
    Buffer.from('{"code":14,"message":"no tenant"}'),
    { kind: 'later', reason: 'status 503: no tenant' },
  ],
  [
    'or in plain text, which is cut and has no control characters',
    415,
    'text/plain',
    Buffer.from(`Unsupported content type:\r\n\u001b[1m ${'x'.repeat(1_000)}`),
    { kind: 'refused', reason: `status 415: Unsupported content type: [1m ${'x'.repeat(300)}`.slice(0, 312) },
  ],
  ['or not at all', 404, 'text/plain', Buffer.alloc(0), { kind: 'refused', reason: 'status 404' }],
])('%s', async (_, status, type, body, expected) => {
  const answer: RequestListener = (_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(body);
  expect(await sendTo(answer, 30)).toMatchObject(expected);
});
