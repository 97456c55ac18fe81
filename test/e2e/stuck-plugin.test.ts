import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startAnsweringUpstream } from '../support/answering-upstream.ts';
import { createGatewayHome, yamlFor } from '../support/gateway.ts';
import { readBody } from '../support/read-body.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Nothing of this plugin ever ends: answers, a body, `done`, a kept resource, the release of its stage, an extension of hapi. */
const stuck = `
import { Readable } from 'node:stream';
const never = () => new Promise(() => {});
setInterval(() => {}, 1000);
export const plugin = { name: 'stuck', register(server) {
  const { gateway } = server;
  gateway.stage({
    name: 'stuck', description: 'Never ends.', options: { type: 'object', additionalProperties: false },
    create: (_options, host) => {
      host.keep('stuck/resource', () => ({ [Symbol.asyncDispose]: never }));
      return { done: never, [Symbol.asyncDispose]: never };
    },
  });
  const endpoint = (name, answer) =>
    gateway.endpoint({ name, method: 'GET', path: '/v1/' + name, isMetered: false, isPublic: true, answer });
  endpoint('hung', () => (console.error('hung now'), never()));
  endpoint('endless', () => {
    const body = new Readable({ read() {} });
    body.push('data: 1\\n\\n');
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
  });
  server.ext('onPreStop', never);
} };`;

it('SIGTERM ends a gateway whatever its plugins do, and its clients get an error', async () => {
  await using upstream = await startAnsweringUpstream();
  await using home = await createGatewayHome('');
  await writeFile(join(home.folder, 'stuck.mjs'), stuck);
  const yaml = yamlFor(upstream.baseUrl).replace('- auth\n', '- auth\n  - stuck\n');
  await home.write(`plugins: [./stuck.mjs]\n${yaml}`, 'drain_timeout: 1');
  await using gateway = await home.start();
  const hung = fetch(`${gateway.url}/v1/hung`);
  const endless = await fetch(`${gateway.url}/v1/endless`);
  const received = readBody(endless);
  await vi.waitFor(() => expect(gateway.output()).toContain('hung now'), { timeout: 30_000 });
  const exited = once(gateway.process, 'exit');
  gateway.process.kill('SIGTERM');
  expect(await received).toEqual({
    text: expect.stringMatching(/^data: 1\n\n.*The gateway is stopping/s),
    isWhole: false,
  });
  expect((await hung).status).toBe(503);
  const [code] = (await exited) as [number | null];
  expect(code).toBe(1);
  const output = gateway.output();
  expect(output).toContain('stage "stuck" failed to release its resources');
  expect(output).toContain('stuck/resource was not released within 10 s');
  expect(output).toContain("a plugin's onPreStop extension has not finished");
  const records = 'SELECT endpoint, outcome, error_code FROM request_log ORDER BY endpoint';
  expect(await home.database.query(records)).toEqual([
    { endpoint: 'endless', outcome: 'failed', error_code: 'shutting_down' },
    { endpoint: 'hung', outcome: 'failed', error_code: 'shutting_down' },
  ]);
});

/** What these endpoints have begun goes on after their client has left: for two seconds, and for ever. */
const settling = `
export const plugin = { name: 'settling', register({ gateway }) {
  const endpoint = (name, settled) =>
    gateway.endpoint({ name, method: 'GET', path: '/v1/' + name, isMetered: false, isPublic: true,
      async answer({ signal }) {
        console.error(name + ' has begun');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        console.error(name + ' is left');
        await settled();
        console.error(name + ' has settled');
        throw signal.reason;
      } });
  endpoint('slow', () => new Promise((resolve) => setTimeout(resolve, 2000)));
  endpoint('endless', () => new Promise(() => {}));
} };`;

it('SIGTERM loses no record of a request whose client has left and whose stages still settle', async () => {
  await using upstream = await startAnsweringUpstream();
  await using home = await createGatewayHome('');
  await writeFile(join(home.folder, 'settling.mjs'), settling);
  await home.write(`plugins: [./settling.mjs]\n${yamlFor(upstream.baseUrl)}`, 'drain_timeout: 1');
  await using gateway = await home.start();
  const client = new AbortController();
  const names = ['slow', 'endless'];
  const left = names.map((name) =>
    fetch(`${gateway.url}/v1/${name}`, { signal: client.signal }).catch(() => undefined),
  );
  const reach = (words: string) =>
    vi.waitFor(() => names.forEach((name) => expect(gateway.output()).toContain(`${name} ${words}`)), {
      timeout: 30_000,
    });
  await reach('has begun');
  client.abort();
  await Promise.all(left);
  await reach('is left');
  const exited = once(gateway.process, 'exit');
  gateway.process.kill('SIGTERM');
  await exited;
  expect(gateway.output()).toContain('slow has settled');
  const records = 'SELECT endpoint, outcome, error_code FROM request_log ORDER BY endpoint';
  const outcome = { outcome: 'aborted', error_code: null };
  expect(await home.database.query(records)).toEqual([
    { endpoint: 'endless', ...outcome },
    { endpoint: 'slow', ...outcome },
  ]);
});
