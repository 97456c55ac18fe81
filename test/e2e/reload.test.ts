import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { createLogger } from '#core/platform/logger.ts';
import { getLiveBus } from '#core/web/live/live-bus.ts';
import { liveTopics } from '#core/web/pages/page.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';

const lines: string[] = [];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({
    yaml: yamlFor('http://127.0.0.1:9/v1'),
    log: createLogger((line) => lines.push(line)),
  });
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  lines.length = 0;
});

async function reload(listen: string): Promise<void> {
  await writeFile(
    gateway.file,
    `listen: { port: 0, notice_period: 0, ${listen} }\n${yamlFor('http://127.0.0.1:9/v1')}`,
  );
  expect(await gateway.gateway.reload()).toBe(true);
}

describe('a reload of the section listen', () => {
  it('changes how long an idle connection stays open', async () => {
    await reload('keep_alive_timeout: 33');
    const { headers } = await fetch(`${gateway.url}/livez`);
    expect(headers.get('keep-alive')).toBe('timeout=33');
  });

  it('changes the body limit, and reports nothing else', async () => {
    await reload('max_body_bytes: 2048');
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: ' '.repeat(3_000),
    });
    expect(response.status).toBe(413);
    expect(lines.join('')).not.toContain('next start');
  });

  it('keeps the address, and reports it', async () => {
    await reload('host: 127.0.0.2');
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
    expect(lines.join('')).toContain('listen.host has changed in');
  });

  it('lets open pages show what has changed', async () => {
    const marked = new Set<string>();
    const end = getLiveBus(gateway.gateway.host).listen(({ topic, accounts }) => {
      if (accounts === undefined) marked.add(topic);
    });
    await reload('keep_alive_timeout: 34');
    end();
    expect(marked).toEqual(new Set(liveTopics));
  });

  it('reads secrets in files again, so that a key is replaced without a restart', async () => {
    const file = join(gateway.folder, 'upstream-key');
    const keys = () => gateway.gateway.host.catalog.upstreams.flatMap(({ apiKeys }) => apiKeys);
    await writeFile(file, 'sk-leaked\n');
    const withKey = 'upstreams: { one: { api_keys: ["${file:./upstream-key}"],';
    await gateway.write(yamlFor('http://127.0.0.1:9/v1').replace('upstreams: { one: {', withKey));
    expect([await gateway.gateway.reload(), keys()]).toEqual([true, ['sk-leaked']]);
    expect(await gateway.gateway.reload()).toBe(false);
    await writeFile(file, 'sk-new\n');
    expect([await gateway.gateway.reload(), keys()]).toEqual([true, ['sk-new']]);
    await writeFile(file, '');
    await expect(gateway.gateway.reload()).rejects.toThrow(/upstream-key is empty; write the secret into it$/);
    expect(keys()).toEqual(['sk-new']);
    expect(lines.join('')).not.toMatch(/sk-(leaked|new)/);
    await writeFile(file, 'sk-new');
  });

  it('of an unchanged file does nothing', async () => {
    expect(await gateway.gateway.reload()).toBe(false);
  });

  it('that is refused is kept with its reason, until the file is as it runs', async () => {
    const running = await readFile(gateway.file, 'utf8');
    await gateway.write('upstreams: nonsense');
    await expect(gateway.gateway.reload()).rejects.toThrow('upstreams');
    const { host } = gateway.gateway;
    expect(getConfigLoadState(host).refusal?.reason).toContain('upstreams');
    await writeFile(gateway.file, running);
    expect(await gateway.gateway.reload()).toBe(false);
    expect(getConfigLoadState(host).refusal).toBeUndefined();
  });
});

const stageFile = (name: string) =>
  `export const stage = { name: '${name}', description: 'Ours.', options: { type: 'object' }, create: () => ({}) };`;
const writeAdded = (text: string) => gateway.write(`plugins: [./added.ts]\n${text}`);
const hookPlugin = (hook: string) => `
const section = { name: 'greeting', fixed: true, schema: { type: 'object', default: {}, properties: { text: { type: 'string', default: 'hi' } } } };
export const plugin = {
  name: 'greeting',
  register(server) {
    server.gateway.section(section);
    server.gateway.onConfigured(${hook});
  },
};`;

describe('a plugin that is added to a running gateway', () => {
  const yaml = yamlFor('http://127.0.0.1:9/v1');
  beforeAll(() => writeFile(join(gateway.folder, 'added.ts'), stageFile('added')));

  it('is not loaded before the next start, and its stage is not called unknown', async () => {
    await writeAdded(yaml.replace('- auth\n', '- auth\n  - added\n'));
    await expect(gateway.gateway.reload()).rejects.toThrow(
      /^gateway\.yaml:2:11 plugins\[0\]: takes effect at the next start; restart the gateway to load it$/,
    );
  });

  it('is reported together with other mistakes', async () => {
    await writeAdded(yaml.replace('- auth\n', '- auth\n  - added\n').replace('- log', '- log: { keep_days: x }'));
    await expect(gateway.gateway.reload()).rejects.toThrow(/plugins\[0\].*\n.*keep_days/);
  });

  it('that nothing uses yet does not prevent the rest of the file from loading', async () => {
    await writeAdded(`service: { name: Other }\n${yaml}`);
    expect(await gateway.gateway.reload()).toBe(true);
    expect(gateway.gateway.host.service.name).toBe('Other');
    expect(lines.join('')).toMatch(/plugins has changed in .*; it takes effect at the next start/);
  });
});

it('a plugin that fails when the gateway stops does not keep the process running', async () => {
  const hook = "(server) => server.ext('onPreStop', () => { throw new Error('not now'); })";
  const yaml = `plugins: [./greeting.mjs]\n${yamlFor('http://127.0.0.1:9/v1')}`;
  await using started = await startGateway({ yaml, files: { 'greeting.mjs': hookPlugin(hook) } });
  const release = vi.fn<() => void>();
  started.gateway.host.keep('of a test', () => ({ [Symbol.dispose]: release }));
  await expect(started.gateway.stop()).rejects.toThrow('not now');
  await expect(fetch(`${started.url}/livez`)).rejects.toThrow('fetch failed');
  await expect(fetch(`${started.operatorUrl}/livez`)).rejects.toThrow('fetch failed');
  expect(release).toHaveBeenCalledOnce();
});

describe('onConfigured', () => {
  const yaml = `plugins: [./greeting.mjs]\ngreeting: { text: welcome }\n${yamlFor('http://127.0.0.1:9/v1')}`;

  it('runs with the configuration before anything listens, and may add routes', async () => {
    const hook = `(server, host) => {
      if (server.info.started !== 0) throw new Error('too late');
      const { text } = host.section(section);
      server.route({ method: 'GET', path: '/greeting', handler: () => text });
    }`;
    await using started = await startGateway({ yaml, files: { 'greeting.mjs': hookPlugin(hook) } });
    expect(await (await fetch(`${started.url}/greeting`)).text()).toBe('welcome');
    await started.write(yaml.replace('welcome', 'changed'));
    expect(await started.gateway.reload()).toBe(true);
    expect(await (await fetch(`${started.url}/greeting`)).text()).toBe('welcome');
  });

  it('may add an extension to onRequest, which can refuse calls of the API', async () => {
    const hook = `(server) => server.ext('onRequest', (request, h) =>
      request.headers['x-blocked'] ? h.response('not you').code(403).takeover() : h.continue)`;
    await using started = await startGateway({ yaml, files: { 'greeting.mjs': hookPlugin(hook) } });
    const call = (headers: Record<string, string>) =>
      fetch(`${started.url}/v1/chat/completions`, { method: 'POST', headers, body: '{}' });
    expect((await call({ 'x-blocked': '1' })).status).toBe(403);
    expect((await call({})).status).toBe(401);
  });

  it('that fails ends the start and names its plugin', async () => {
    const files = { 'greeting.mjs': hookPlugin("() => { throw new Error('no secret'); }") };
    await expect(startGateway({ yaml, files })).rejects.toMatchObject({
      message: 'the plugin greeting failed in onConfigured',
      cause: { message: 'no secret' },
    });
  });
});
