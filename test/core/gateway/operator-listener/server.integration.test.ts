import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import type { OperatorAddress } from '#core/gateway/operator-listener/address.ts';
import { OperatorServer } from '#core/gateway/operator-listener/server.ts';
import { silentLog } from '../../../support/database.ts';

let folder: string;
let open: AsyncDisposableStack;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-operator-'));
  open = new AsyncDisposableStack();
});
afterEach(async () => {
  await open.disposeAsync();
  await rm(folder, { recursive: true, force: true });
});

const routes = [{ method: 'GET', path: '/state', handler: () => 'open' }] as const;
let token: string | undefined;
beforeEach(() => {
  token = undefined;
});
const host = () => ({ section: () => ({ token, names: [] }) }) as unknown as Host;

function serve(address: OperatorAddress): OperatorServer {
  return open.use(new OperatorServer(address, routes, host, silentLog));
}

async function listening(address: OperatorAddress): Promise<OperatorServer> {
  const server = serve(address);
  await server.listen();
  return server;
}

/** Listens where a gateway wants to. */
async function occupy(where: object): Promise<Server> {
  const server = createServer().listen(where);
  await once(server, 'listening');
  open.defer(() => new Promise((resolve) => server.close(() => resolve())));
  return server;
}

async function askSocket(socketPath: string): Promise<number | undefined> {
  const sent = request({ socketPath, path: '/state', agent: new Agent() }).end();
  const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

/** Path of the socket. */
const path = () => join(folder, 'operator.sock');

describe('the listener of the operator', () => {
  it('answers with headers that keep its answers out of caches', async () => {
    const { url } = await listening({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${url}/state`);
    expect([answer.status, await answer.text()]).toEqual([200, 'open']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${url}/nothing`)).headers.get('cache-control')).toBe('no-store');
  });

  it('takes no method that changes something', async () => {
    const { url } = await listening({ host: '127.0.0.1', port: 0 });
    expect((await fetch(`${url}/state`, { method: 'POST', body: 'x' })).status).toBe(404);
  });

  it('follows a token that a reload sets', async () => {
    const { url } = await listening({ host: '127.0.0.1', port: 0 });
    token = 'a-token-of-some-length';
    const refused = await fetch(`${url}/state`);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/state`, { headers })).status).toBe(200);
  });

  it('does not start on a port in use, and says what to change', async () => {
    const taken = await occupy({ host: '127.0.0.1', port: 0 });
    const { port } = taken.address() as { port: number };
    await expect(listening({ host: '127.0.0.1', port })).rejects.toThrow(
      `cannot listen on http://127.0.0.1:${port} for the operator: the port is in use; set operator.port to another one`,
    );
  });

  it('answers questions that another process got, under the same rules', async () => {
    const server = serve({ host: '127.0.0.1', port: 0 });
    token = 'a-token-of-some-length';
    const ask = (name: string, authorization: string) =>
      server.respond({ url: '/state', headers: { host: name, authorization }, localAddress: '127.0.0.1' });
    expect(await ask('localhost', `Bearer ${token}`)).toMatchObject({ status: 200, body: 'open' });
    expect(await ask('localhost', 'Bearer another')).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
    });
    expect((await ask('other.example', `Bearer ${token}`)).status).toBe(421);
  });

  it('can be closed before it has listened', async () => {
    await serve({ host: '127.0.0.1', port: 0 })[Symbol.asyncDispose]();
  });
});

describe('the socket of the operator', () => {
  it('is for the user of the gateway only, and removed at the end', async () => {
    const server = await listening({ path: path() });
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    expect(server.url).toBe(`unix:${path()}`);
    expect(await askSocket(path())).toBe(200);
    await server[Symbol.asyncDispose]();
    await expect(stat(path())).rejects.toThrow('ENOENT');
  });

  it('replaces the file that a killed gateway has left', async () => {
    const code = `require('net').createServer().listen(${JSON.stringify(path())}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(execFile(process.execPath, ['-e', code]), 'exit');
    expect((await stat(path())).isSocket()).toBe(true);
    await listening({ path: path() });
    expect(await askSocket(path())).toBe(200);
  });

  it('of another process is not touched', async () => {
    await occupy({ path: path() });
    await expect(listening({ path: path() })).rejects.toThrow('the path is in use; set operator.socket to another one');
    expect((await stat(path())).isSocket()).toBe(true);
  });

  it('does not replace a file that is no socket', async () => {
    await writeFile(path(), 'mine');
    await expect(listening({ path: path() })).rejects.toThrow('cannot listen on');
    expect((await stat(path())).isFile()).toBe(true);
  });
});
