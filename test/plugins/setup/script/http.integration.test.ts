import { readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTlsUpstream } from '../../../support/tls-upstream.ts';
import { runParts, sendJson, startStub, type StubGateway, toolFolder } from './parts-fixture.ts';
import { hasCommand } from './shells.ts';

/** Of this file alone: processes of other tests have theirs in the environment. */
const key = `dp-${'Http'.repeat(12)}${process.pid}`;
/** Prints STATUS|FAILURE, and the body. */
const ask = `run.key = ${JSON.stringify(key)};
const { ASKED, BODY, LIMIT } = process.env;
const answer = request(BODY ? 'POST' : 'GET', ASKED, BODY, Number(LIMIT));
printLine(answer.status + '|' + answer.failure + '\\n' + answer.body);`;

let stub: StubGateway;
/** Arguments of all processes while a request is being answered. */
let seenArguments = '';
let seenEnvironments = '';

beforeAll(async () => {
  stub = await startStub((path, response) => {
    seenArguments = readProcesses('cmdline');
    seenEnvironments = readProcesses('environ');
    answers[path.split('/').at(-1) ?? '']?.(response);
  });
});
afterAll(() => stub[Symbol.asyncDispose]());

const page = '<!doctype html><title>Sign in</title>';
const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  good: (response) => sendJson(response, 200, { good: 'yes' }),
  refused: (response) => sendJson(response, 403, { error: { message: 'This account is blocked.' } }),
  unknown: (response) => sendJson(response, 401, { error: { message: 'no' } }),
  portal: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(page),
  moved: (response) => void response.writeHead(302, { location: 'http://portal.example/login' }).end(),
  down: (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end(page),
  denied: (response) => void response.writeHead(403, { 'content-type': 'text/html' }).end(page),
  empty: (response) => void response.writeHead(200).end(),
  events: (response) => void response.writeHead(200).end('event: x\ndata: {"a":1}\n\n'),
  slow: () => undefined,
  endless: (response) => void sendEndlessly(response),
  announced: (response) => void sendEndlessly(response, { 'content-length': '10000000000' }),
  broken: (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"a":');
    setImmediate(() => response.destroy());
  },
};

/** Until the client leaves. */
async function sendEndlessly(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(200, headers);
  const endless = Readable.from(
    (function* () {
      for (;;) yield '{"a":1}'.repeat(10_000);
    })(),
  );
  await pipeline(endless, response).catch(() => undefined);
}

/** Of all other processes. Linux alone has them in files. */
function readProcesses(file: 'cmdline' | 'environ'): string {
  if (process.platform !== 'linux') return '';
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((id) => readIfThere(`/proc/${id}/${file}`))
    .join('\n');
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe.each(['curl', 'this runtime'])('a request by %s alone', (client) => {
  let path = '';
  beforeAll(async () => {
    path = await toolFolder(client === 'curl' ? ['curl'] : []);
  });
  afterAll(() => rm(path, { recursive: true, force: true }));
  const isMissing = client === 'curl' && !hasCommand(client);

  async function run(asked: string, baseUrl = stub.url, environment: NodeJS.ProcessEnv = {}) {
    // Only the answer that never comes may end by the limit, on a busy machine as well.
    const LIMIT = asked.endsWith('/slow') ? '1' : '60';
    const { stdout, stderr, leftovers } = await runParts(ask, {
      baseUrl,
      path,
      environment: { ASKED: asked, LIMIT, ...environment },
    });
    expect({ stderr, leftovers }).toStrictEqual({ stderr: '', leftovers: [] });
    return stdout.trimEnd();
  }

  it.skipIf(isMissing)('carries the key, which no process has in its arguments or environment', async () => {
    expect(await run('/v1/good')).toBe('200|\n{"good":"yes"}');
    const { method, path: asked, headers } = stub.requests.at(-1) ?? {};
    expect([method, asked, headers?.authorization]).toEqual(['GET', '/v1/good', `Bearer ${key}`]);
    expect(seenArguments.includes(key)).toBe(false);
    expect(seenEnvironments.includes(key)).toBe(false);
  });

  it.skipIf(isMissing)('sends a body as JSON, below the path of the gateway', async () => {
    const BODY = JSON.stringify({ a: 'é\n"\\' });
    expect(await run('/v1/good', `${stub.url}/gate%20way`, { BODY })).toBe('200|\n{"good":"yes"}');
    const { method, path: asked, headers, body: sent } = stub.requests.at(-1) ?? {};
    expect([method, asked, headers?.['content-type'], sent]).toEqual([
      'POST',
      '/gate%20way/v1/good',
      'application/json',
      BODY,
    ]);
  });

  it.skipIf(isMissing).each([
    ['refused', '403|', 'blocked'],
    ['unknown', '401|', ''],
    ['events', '200|', 'data: {"a":1}'],
    ['portal', '200|Something between this machine and ORIGIN answered instead of it (200, a web page)', ''],
    ['denied', '403|Something between this machine and ORIGIN answered instead of it (403, a web page)', ''],
    ['empty', '200|Something between this machine and ORIGIN answered instead of it (200, an empty answer)', ''],
    [
      'moved',
      '302|Something between this machine and ORIGIN answered instead of it (302 to http://portal.example/login)',
      '',
    ],
    ['down', '502|ORIGIN answered with 502 and no explanation: the gateway is down', ''],
    ['slow', '0|ORIGIN did not answer within 1 s.', ''],
    ['broken', '0|The connection to ORIGIN broke before the answer was complete.', ''],
  ])('tells the gateway from what is in between: %s', async (answer, expected, content) => {
    const output = await run(`/v1/${answer}`);
    expect(output.replaceAll(stub.url, 'ORIGIN')).toContain(expected);
    expect(output).toContain(content);
    if (answer === 'moved') expect(stub.requests.at(-1)?.path).toBe('/v1/moved');
  });

  it.skipIf(isMissing).each(['endless', 'announced'])('gives up an answer that does not end: %s', async (answer) => {
    expect((await run(`/v1/${answer}`)).replaceAll(stub.url, 'ORIGIN')).toBe(
      '0|ORIGIN sent more than 4 MiB, which no answer of Daypass has. Something between this machine and ORIGIN may have answered instead of it.',
    );
  });

  it.skipIf(isMissing)('names a host that does not exist, and a port where nothing listens', async () => {
    expect(await run('/', 'http://no-such-host.invalid')).toMatch(
      /^0\|The host name of http:\/\/no-such-host.invalid could not be resolved/,
    );
    expect(await run('/', 'http://127.0.0.1:1')).toMatch(/^0\|Nothing accepts connections at http:\/\/127.0.0.1:1/);
  });

  it.skipIf(isMissing)('names a certificate that is not trusted, and the variable that trusts it', async () => {
    await using upstream = await createTlsUpstream(() => undefined);
    expect(await run('/', `https://127.0.0.1:${upstream.port}`)).toMatch(
      /^0\|The TLS certificate of https:\S+ is not trusted.*set (CURL_CA_BUNDLE|NODE_EXTRA_CA_CERTS) to/,
    );
  });

  it.skipIf(isMissing)('names a proxy that refuses', async () => {
    await using proxy = await startProxy('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    const environment = { https_proxy: proxy.url, http_proxy: proxy.url };
    expect(await run('/', 'http://gateway.example', environment)).toContain(
      '|The proxy of this network refused to connect',
    );
    expect(await run('/', 'https://gateway.example', environment)).toContain(
      '|The proxy of this network refused to connect',
    );
  });

  it.skipIf(isMissing).each(['http', 'https'])(
    'blames a proxy that is not running, and not the gateway: %s',
    async (scheme) => {
      const environment = { [`${scheme}_proxy`]: 'http://user:secret@127.0.0.1:1' };
      const output = await run('/', `${scheme}://gateway.example`, environment);
      expect(output).toBe(
        `0|Nothing accepts connections at the proxy http://127.0.0.1:1 that ${scheme}_proxy names. Start it, or remove the variable and run this again.`,
      );
      const excepted = await run('/', `${scheme}://127.0.0.1:1`, { ...environment, no_proxy: 'a.example,127.0.0.1' });
      expect(excepted).toMatch(
        /^0\|Nothing accepts connections at https?:\/\/127\.0\.0\.1:1\. The gateway may be down/,
      );
    },
  );
});

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

describe('request', () => {
  const good = { ASKED: '/v1/good', LIMIT: '60' };

  it('a request is sent by the runtime where curl cannot start', async () => {
    const path = await toolFolder([]);
    await writeFile(join(path, 'curl'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    const { stdout, stderr } = await runParts(ask, { baseUrl: stub.url, path, environment: good });
    expect({ stdout, stderr }).toEqual({ stdout: '200|\n{"good":"yes"}\n', stderr: '' });
    await rm(path, { recursive: true, force: true });
  });

  it.skipIf(!hasCommand('curl'))('ignores ~/.curlrc and ~/.netrc', async () => {
    const files = { '.curlrc': 'header = "x-evil: 1"\n', '.netrc': 'machine 127.0.0.1 login a password b\n' };
    await runParts(ask, { baseUrl: stub.url, files, environment: good });
    const { headers } = stub.requests.at(-1) ?? {};
    expect(headers?.['x-evil']).toBe(undefined);
    expect(headers?.authorization).toBe(`Bearer ${key}`);
  });

  it.skipIf(!hasIpv6).each([['curl'], []])('reaches a gateway at an IPv6 address: %s', async (...programs) => {
    await using gateway = await startStub((_, response) => sendJson(response, 200, {}), '::1');
    const path = await toolFolder(programs.filter((name) => name !== undefined));
    const { stdout } = await runParts(ask, { baseUrl: gateway.url, path, environment: good });
    expect(stdout).toBe('200|\n{}\n');
    expect(gateway.requests[0]?.headers.host).toMatch(/^\[::1\]:\d+$/);
    await rm(path, { recursive: true, force: true });
  });

  it.skipIf(!hasCommand('curl'))(
    'tells a handshake that is cut off from a certificate that is not trusted',
    async () => {
      await using firewall = await startProxy('');
      const baseUrl = firewall.url.replace('http:', 'https:');
      const { stdout } = await runParts(ask, { baseUrl, environment: good });
      expect(stdout).toMatch(/^0\|The TLS handshake with https:\S+ failed \(.*A proxy or firewall may block it/);
    },
  );

  it('a request prints no control characters of an answer', async () => {
    const message = '\u001b[31mred\u009b0m "quoted" C:\\x\ty';
    const body = `printLine(errorMessage({ body: machine_.encode(${JSON.stringify(JSON.stringify({ error: { code: null, message } }))}) }))`;
    const { stdout } = await runParts(body, { baseUrl: stub.url });
    expect(stdout).toBe('?[31mred?0m "quoted" C:\\x?y\n');
  });
});

async function startProxy(answer: string) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(answer));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => server.close(() => closed())),
  };
}
