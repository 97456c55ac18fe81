import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Browser, pageAt, pageHost, servePages, testTexts } from '../page-fixture.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'assets-'));
  await mkdir(join(folder, 'charts'));
  await writeFile(join(folder, 'own.css'), 'body { color: red }');
  await writeFile(join(folder, 'charts', 'line.js'), 'export {}');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const serve = () =>
  servePages(pageHost(), ({ gateway }) => {
    gateway.texts(testTexts);
    gateway.assets({ name: 'mine', path: folder });
    gateway.assets({ name: 'single.css', path: join(folder, 'own.css') });
    gateway.page(pageAt('/page', { scripts: ['mine/charts/line.js', 'htmx.js'] }));
  });

/** Addresses of the scripts on the page. */
async function scriptsOf(server: Server): Promise<string[]> {
  const { payload } = await new Browser(server).get('/page');
  return [...payload.matchAll(/<script defer src="(.*?)"/g)].map(([, url = '']) => url);
}

describe('an asset', () => {
  it('is kept for a year, under an address that its content decides', async () => {
    const server = await serve();
    const [url = ''] = await scriptsOf(server);
    const { statusCode, headers, payload } = await server.inject(url);
    expect([statusCode, payload, headers['content-type']]).toEqual([
      200,
      'export {}',
      'text/javascript; charset=utf-8',
    ]);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['set-cookie']).toBeUndefined();
    await writeFile(join(folder, 'charts', 'line.js'), 'export { x }');
    expect((await scriptsOf(await serve()))[0]).not.toBe(url);
  });

  it('stays what it was at the start when its file is replaced under a running gateway', async () => {
    const server = await serve();
    const [url = ''] = await scriptsOf(server);
    const { etag } = (await server.inject(url)).headers;
    await writeFile(join(folder, 'charts', 'line.js'), 'export { x }');
    expect((await server.inject(url)).payload).toBe('export {}');
    await rm(join(folder, 'charts', 'line.js'));
    const { statusCode, payload, headers } = await server.inject(url);
    expect([statusCode, payload, headers.etag]).toEqual([200, 'export {}', etag]);
  });

  it('has a type that its name decides, also an unknown one', async () => {
    await writeFile(join(folder, 'data.unheard-of'), 'x');
    const server = await serve();
    expect((await server.inject('/assets/x/mine/data.unheard-of')).headers['content-type']).toBe(
      'application/octet-stream',
    );
  });

  it('under the address of an older version is there, but not kept', async () => {
    const { statusCode, headers } = await (await serve()).inject('/assets/oldversion00/mine/own.css');
    expect([statusCode, headers['cache-control'], headers['content-type']]).toEqual([
      200,
      'no-cache',
      'text/css; charset=utf-8',
    ]);
  });

  it('is not sent again to a browser that has it', async () => {
    const server = await serve();
    const [url = ''] = await scriptsOf(server);
    const { etag } = (await server.inject(url)).headers;
    const { statusCode, payload } = await server.inject({ url, headers: { 'if-none-match': String(etag) } });
    expect([statusCode, payload]).toEqual([304, '']);
  });

  it('can be one file', async () => {
    const { payload } = await (await serve()).inject('/assets/x/single.css');
    expect(payload).toBe('body { color: red }');
  });

  it('can come from a package', async () => {
    const server = await serve();
    const [, url = ''] = await scriptsOf(server);
    expect((await server.inject(url)).payload).toContain('htmx');
  });

  it('is sent compressed', async () => {
    const server = await serve();
    const { headers } = await server.inject({
      url: (await scriptsOf(server))[1]!,
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(headers['content-encoding']).toBe('gzip');
  });

  it.each([
    '/assets/x/nothing.js',
    '/assets/x/shell/layout.eta',
    '/assets/x/mine/../../etc/passwd',
    '/assets/x/mine/%2e%2e/%2e%2e/package.json',
    '/assets/x',
    '/assets/x/mine',
  ])('is not found at %s', async (url) => {
    expect((await (await serve()).inject(url)).statusCode).toBe(404);
  });
});
