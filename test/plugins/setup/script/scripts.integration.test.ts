import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { describeInShells, runShell } from './shells.ts';

const yaml = (models: string) => `
service: { name: "Ana's gateway", prefix: dp, base_url: "https://ai.example:8443/the gate", unsafe_public_demo: true }
pipeline: [auth, plan, format, upstream, log]
upstreams:
  texts: { format: [chat, messages], base_url: "http://127.0.0.1:1/v1" }
  pictures: { format: images, base_url: "http://127.0.0.1:1/v1" }
models: { ${models} }
`;

let gateway: TestGateway;
let empty: TestGateway;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-scripts-'));
  gateway = await startGateway({ yaml: yaml('large: { routes: [texts/large] }, mini: { routes: [texts/mini] }') });
  empty = await startGateway({ yaml: yaml('painter: { routes: [pictures/painter] }') });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await empty[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${gateway.url}/setup.sh`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

describe('GET /setup.sh', () => {
  it('GET /setup.sh sends everybody the same text, which a browser shows', async () => {
    const response = await get();
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('set-cookie')).toBeNull();
    const text = await response.text();
    expect(text).toContain(
      `# Sets up the coding tools on this machine for Ana's gateway at https://ai.example:8443/the%20gate`,
    );
    const asAccount = await get({ authorization: `Bearer ${gateway.key}` });
    expect(await asAccount.text()).toBe(text);
  });

  it('GET /setup.sh is named by its SHA-256, and not sent again to a client that has it', async () => {
    const response = await get();
    const sha256 = hash('sha256', await response.text());
    expect(response.headers.get('etag')).toBe(`"${sha256}"`);
    for (const tag of [`"${sha256}"`, `"${sha256}-gzip"`])
      expect((await get({ 'if-none-match': tag, 'accept-encoding': 'gzip' })).status).toBe(304);
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('GET /setup.sh is compressed for clients that ask for it, and HEAD has no body', async () => {
    const packed = await get({ 'accept-encoding': 'gzip' });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(await packed.text()).toBe(await (await get()).text());
    const head = await get({}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

describe('GET /setup.ps1', () => {
  it('GET /setup.ps1 sends everybody the same text in ASCII, named by its SHA-256', async () => {
    const response = await fetch(`${gateway.url}/setup.ps1`, { headers: { 'accept-encoding': 'identity' } });
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const text = await response.text();
    expect(text).toContain('# Sets up the coding tools on this computer for https://ai.example:8443/the%20gate');
    expect(/[^\n\x20-\x7e]/.test(text)).toBe(false);
    expect(response.headers.get('etag')).toBe(`"${hash('sha256', text)}"`);
    expect(await (await fetch(`${gateway.url}/setup.ps1`)).text()).toBe(text);
  });

  it('GET /setup.ps1 reports that the catalog has no model for tools', async () => {
    const text = await (await fetch(`${empty.url}/setup.ps1`)).text();
    expect(text).toMatch(/^Write-Host 'This gateway has no models for tools yet\. [\x20-\x7e]*'\n/);
  });
});

describe('reload of gateway.yaml', () => {
  it('a reload of gateway.yaml changes the script and its SHA-256', async () => {
    const before = await get();
    await gateway.write(yaml('other: { routes: [texts/other] }').concat('setup: { model: other }\n'));
    expect(await gateway.gateway.reload()).toBe(true);
    const after = await get();
    expect(await after.text()).toContain('"defaults":[{"format":"messages","model":"dp/other"}');
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });
});

describeInShells('setup.sh', ({ name, command }) => {
  const run = async (text: string, args: readonly string[] = []) => {
    const file = join(folder, `${name.replaceAll(' ', '')}.sh`);
    await writeFile(file, text);
    return runShell(command, [...args, file], { env: { PATH: process.env['PATH'] }, cwd: folder });
  };

  it('each setup script is one that the shell can read', async () => {
    const { status, stdout, stderr } = await run(await (await get()).text(), ['-n']);
    // ksh93 advises against POSIX arithmetic, because it has a faster one.
    const errors = stderr.replaceAll(/^.* is slower than .*\n/gm, '');
    expect({ status, stdout, errors }).toEqual({ status: 0, stdout: '', errors: '' });
  });

  it('runs nothing of the answer for a mistyped address', async () => {
    const response = await fetch(`${gateway.url}/setup.shh`);
    expect([response.status, response.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);
    const { status, stdout, stderr } = await run(await response.text());
    expect({ status, stdout }).toEqual({ status: 127, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([expect.stringMatching(/error:\{?message:/)]);
  });

  it('says so where the catalog has no model for tools', async () => {
    const text = await (await fetch(`${empty.url}/setup.sh`)).text();
    const stderr = `Ana's gateway has no models for tools yet. Run this again once the dashboard lists a model.\n`;
    expect(await run(text)).toEqual({ status: 1, stdout: '', stderr });
  });
});
