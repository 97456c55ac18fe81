import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicPaths } from '../../../plugins/public-check/paths.ts';
import { runCommand } from '../../support/command-line.ts';
import { freePort } from '../../support/free-port.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

interface Line {
  readonly check: string;
  readonly subject: string;
  readonly state: string;
  readonly text: string;
}

let gateway: TestGateway;
beforeAll(async () => {
  const yaml = `operator: { port: ${await freePort()} }
pipeline: [auth, plan, format, upstream, log]
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
`;
  gateway = await startGateway({ yaml });
  await gateway.write(yaml, 'drain_timeout: 5, trusted_proxies: [127.0.0.1]');
  await gateway.gateway.reload();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** @returns the lines of the public address by their subject */
async function examine(url: string, words: readonly string[] = []): Promise<Map<string, string>> {
  const { out } = await runCommand(
    ['--config', gateway.file, 'doctor', '--json', '--only', 'public_url', '--slow', '1', '--url', url, ...words],
    { DATABASE_URL: gateway.database.url },
  );
  const { checks } = JSON.parse(out) as { checks: Line[] };
  return new Map(checks.map(({ subject, state, text: found }) => [subject, `${state}: ${found}`]));
}

/** A proxy before the gateway. @param change of a request before it is passed on @param send the response to the client */
async function startProxy(
  change: (request: IncomingMessage) => { readonly path: string; readonly headers: IncomingMessage['headers'] },
  send: (from: IncomingMessage, to: ServerResponse) => Promise<void> | void,
) {
  const server = createServer((incoming, outgoing) => {
    const passed = requestHttp(gateway.url, { method: incoming.method ?? '', ...change(incoming), agent: false });
    passed.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 0, response.headers);
      void send(response, outgoing);
    });
    passed.on('upgrade', (response, far, head) => {
      const near = outgoing.socket as Socket;
      outgoing.writeHead(101, response.headers).flushHeaders();
      near.write(head);
      for (const one of [near, far]) one.on('error', () => undefined);
      near.pipe(far).pipe(near);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.once('close', () => passed.destroy());
    incoming.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('daypass doctor --url', () => {
  it('finds a proxy that passes everything on in order', async () => {
    await using proxy = await startProxy(
      ({ url = '', headers }) => ({
        path: url,
        headers: { ...headers, 'x-forwarded-for': '127.0.0.9', 'x-forwarded-proto': 'http' },
      }),
      (from, to) => void from.pipe(to),
    );
    const found = await examine(`${proxy.url}/v1/`);
    expect([...found.values()].filter((line) => !line.startsWith('ok: '))).toEqual([]);
    expect(found.get('client address')).toBe('ok: the gateway sees 127.0.0.9');
    expect(found.get('WebSocket')).toBe('ok: opens, and carries messages');
    expect(found.get('client leaves a call')).toBe('ok: the gateway notices immediately');
    expect(found.get('long body')).toMatch(/^ok: 10 MB in /);
    expect(found.size).toBe(11);
  });

  it('finds a proxy that buffers, decodes paths, drops `Upgrade` and passes on who a client claims to be', async () => {
    await using proxy = await startProxy(
      ({ url = '', headers: { upgrade: _upgrade, ...headers } }) => ({
        path: url.replace(/%2F/i, '/'),
        headers: { ...headers, connection: 'close' },
      }),
      async (from, to) => void to.end(await text(from).catch(() => '')),
    );
    const found = await examine(proxy.url);
    expect(found.get('stream')).toMatch(/^failed: is buffered: 20 events in 1 bursts/);
    expect(found.get('encoded slash')).toBe('failed: /dp%2Fname arrives as /dp/name');
    expect(found.get('WebSocket')).toBe('warning: the proxy drops `Upgrade`');
    expect(found.get('client address')).toMatch(/^failed: clients can spoof their address/);
  });

  it('finds that another server answers', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end('<h1>Parked</h1>'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const found = await examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(found.get('stream')).toMatch(/^failed: a proxy answers 404 /);
    server.close();
  });

  it('wants an address', async () => {
    const words = ['--config', gateway.file, 'doctor', '--url'];
    const { code, errors } = await runCommand(words, { DATABASE_URL: gateway.database.url });
    expect([code, errors]).toEqual([2, expect.stringContaining('service.base_url is not set')]);
    const invalid = await runCommand([...words, 'ai.example.com'], { DATABASE_URL: gateway.database.url });
    expect([invalid.code, invalid.errors]).toEqual([2, expect.stringContaining('Use a URL such as')]);
  });
});

function ask(path: string, authorization?: string, method = 'GET'): Promise<Response> {
  return fetch(gateway.url + path, { method, headers: authorization === undefined ? {} : { authorization } });
}

describe('the paths that doctor calls', () => {
  it.each([...Object.values(publicPaths), `${publicPaths.arrived}/more`])(
    'do not exist without a pass: %s',
    async (path) => {
      const method = path === publicPaths.body ? 'POST' : 'GET';
      for (const authorization of [undefined, `Bearer ${gateway.key}`, `Bearer check_${'a'.repeat(32)}`]) {
        const response = await ask(path, authorization, method);
        expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('not found')]);
      }
    },
  );

  it('are opened by a pass of the operator listener, which the public one does not issue', async () => {
    expect((await ask('/public-check/pass')).status).toBe(404);
    const issued = await fetch(`${gateway.operatorUrl}/public-check/pass`);
    const { pass } = (await issued.json()) as { pass: string };
    expect((await ask(publicPaths.arrived, `Bearer ${pass}`)).status).toBe(200);
    expect((await ask(`${publicPaths.wait}?seconds=601`, `Bearer ${pass}`)).status).toBe(400);
  });
});
