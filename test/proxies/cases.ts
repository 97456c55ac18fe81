import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brokenPrompt } from '../rolling/upstream.ts';
import type { GatewayHome } from '../support/gateway-home.ts';
import { testCertificate } from '../support/tls-upstream.ts';
import { openHttp2WebSocket } from './http2.ts';
import type { Proxy } from './proxies.ts';

const run = promisify(execFile);

/** A gateway behind a proxy. */
export interface Behind {
  readonly proxy: Pick<Proxy, 'name' | 'known' | 'http2WebSocket'>;
  readonly version: string;
  readonly url: string;
}

interface Finding {
  readonly subject: string;
  readonly state: string;
  readonly text: string;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly isWhole: boolean;
}

/** Ms for a call that waits for nothing. */
const usual = 30_000;

/** Runs `daypass doctor --url`. @returns what it finds that is not known of this proxy */
export async function tryDoctor({ proxy, url }: Behind, home: GatewayHome): Promise<string[]> {
  const certificate = join(home.folder, 'certificate.pem');
  await writeFile(certificate, testCertificate);
  const words = ['core/main.mjs', '--config', home.file, 'doctor', '--json', '--only', 'public_url', '--url', url];
  const environment = { ...process.env, DATABASE_URL: home.databaseUrl, NODE_EXTRA_CA_CERTS: certificate };
  // It exits with 1 where something failed.
  const { stdout } = await run(process.execPath, words, { env: environment, timeout: 300_000 }).catch(
    (error: unknown) => error as { stdout: string },
  );
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  const known = proxy.known ?? {};
  return checks
    .filter(({ subject, state, text }) => {
      const expected = known[subject];
      return expected === undefined ? state !== 'ok' : !expected.test(text);
    })
    .map(({ subject, state, text }) => `doctor: ${subject}: ${state}: ${text}`);
}

/** Calls of clients. */
export async function tryCalls({ proxy, url }: Behind, key: string): Promise<string[]> {
  const authorization = `Bearer ${key}`;
  const ask = (stream: boolean, content = 'Hello') =>
    call(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dp/mock', stream, messages: [{ role: 'user', content }] }),
    });
  const [plain, stream, broken, model, largeHead, oversizedHead, upgrade, overHttp2] = await Promise.all([
    ask(false),
    ask(true),
    ask(true, brokenPrompt),
    call(`${url}/v1/models/dp%2Fmock`, { headers: { authorization } }),
    call(`${url}/v1/models`, { headers: { authorization, 'x-large': 'x'.repeat(20_000) } }),
    call(`${url}/v1/models`, { headers: { authorization, 'x-large': 'x'.repeat(200_000) } }),
    call(`${url}/v1/responses`, { headers: { ...webSocket, authorization } }),
    openHttp2WebSocket(url, authorization),
  ]);
  const checks: Record<string, readonly [boolean, Answer]> = {
    'a call': [plain.status === 200 && plain.text.includes('chat.completion'), plain],
    'a stream': [stream.text.trimEnd().endsWith('[DONE]'), stream],
    'a stream that fails': [broken.text.includes('data: {"error"') && !broken.isWhole, broken],
    'a model with %2F in the path': [model.status === 200 && model.text.includes('dp/mock'), model],
    'a head of 20 KB': [largeHead.status === 431 && isReadable(largeHead), largeHead],
    'a head of 200 KB': [oversizedHead.status >= 400 && isReadable(oversizedHead), oversizedHead],
    'a WebSocket': [upgrade.status === 101, upgrade],
    'a WebSocket over HTTP/2': [overHttp2 === (proxy.http2WebSocket ?? 'not offered'), { ...nothing, text: overHttp2 }],
  };
  return faultsOf(proxy, checks);
}

const webSocket = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'ZGF5cGFzcy1kb2N0b3ItMQ==',
};

/** What a client gets while no gateway runs. */
export async function tryOutage({ proxy, url }: Behind): Promise<string[]> {
  const down = await call(`${url}/v1/models`, {});
  return faultsOf(proxy, { 'no gateway': [down.status === 503 && isReadable(down), down] });
}

/** True for an error that SDKs read. */
function isReadable({ type, text }: Answer): boolean {
  return type.includes('json') && text.includes('"message"');
}

function faultsOf({ known = {} }: Behind['proxy'], checks: Record<string, readonly [boolean, Answer]>): string[] {
  return Object.entries(checks).flatMap(([name, [isRight, { status, type, text }]]) => {
    const seen = `${status} ${type} ${text.slice(0, 120)}`;
    const expected = known[name];
    const isExpected = expected === undefined ? isRight : expected.test(seen);
    return isExpected ? [] : [`${name}: ${seen}`];
  });
}

interface Call {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const nothing: Answer = { status: 0, type: '', text: '', isWhole: false };

/** On a connection of its own. A failed connection is a response with status 0; the error follows a text that broke off. */
async function call(url: string, { method = 'GET', headers = {}, body }: Call): Promise<Answer> {
  const request = requestHttps(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
    ca: testCertificate,
    agent: false,
    signal: AbortSignal.timeout(usual),
  });
  request.on('error', () => undefined);
  const answer: { -readonly [Name in keyof Answer]: Answer[Name] } = { ...nothing };
  try {
    request.end(body);
    const [response] = (await Promise.race([once(request, 'response'), once(request, 'upgrade')])) as [IncomingMessage];
    answer.status = response.statusCode ?? 0;
    if (answer.status === 101) {
      response.socket.destroy();
      return answer;
    }
    answer.type = response.headers['content-type'] ?? '';
    for await (const piece of response) answer.text += String(piece);
    return { ...answer, isWhole: true };
  } catch (error) {
    return { ...answer, text: answer.text + (error instanceof Error ? error.message : String(error)) };
  }
}
