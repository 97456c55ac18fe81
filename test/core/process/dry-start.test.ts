import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../support/command-line.ts';

const valid = `pipeline: [auth, plan, ours, format, upstream, log]
upstreams: { one: { format: chat, base_url: "http://one.test/v1", api_keys: [k] } }
models: { test: { routes: [one/a] } }
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-dry-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What `check` says of a gateway with a plugin: its stage `ours`, and what it does beside. */
async function check({ create = '() => ({})', register = '' }, name = 'ours') {
  const source = `const stage = { name: 'ours', description: 'Ours.', options: { type: 'object' }, create: ${create} };
export const plugin = { name: '${name}', register(server) { server.gateway.stage(stage); ${register} } };`;
  await writeFile(join(folder, 'ours.mjs'), source);
  await writeFile(join(folder, 'gateway.yaml'), `plugins: [./ours.mjs]\n${valid}`);
  const { code, out, errors } = await runCommand(['--config', join(folder, 'gateway.yaml'), 'check']);
  return { code, errors: errors.replaceAll(folder, ''), notes: out.match(/^note: .*$/gm) ?? [] };
}

const sound = { code: 0, errors: '' };
const hook = (body: string) => ({ register: `server.gateway.onConfigured(async (server, host) => { ${body} });` });

describe('daypass check of a third-party plugin', () => {
  it('accepts one that would start, and what it adds to the server', async () => {
    const body = `server.auth.scheme('own', () => ({ authenticate: (request, h) => h.continue }));
      server.route({ method: 'GET', path: '/ours', handler: () => server.host().service.name });
      host.keep('ours', () => ({})); await host.shared.ping?.(); await host.jobs.add('x', {});`;
    expect(await check(hook(body))).toMatchObject({ ...sound, notes: [] });
  });

  it('refuses one whose hook fails, with its line in the file and in the plugin', async () => {
    expect(await check(hook(`throw new Error('no certificate');`))).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /^gateway\.yaml:1:11 plugins\[0\]: fails in onConfigured: no certificate \(\/ours\.mjs:2\); fix the plugin\n$/,
      ),
    });
  });

  it('refuses one whose stage cannot be created', async () => {
    expect(await check({ create: `() => { throw new Error('no rules'); }` })).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /^gateway\.yaml:2:24 pipeline\[2\]: cannot be created: no rules .*; fix the plugin\n$/,
      ),
    });
  });

  it('refuses one whose route collides with a page', async () => {
    const { code, errors } = await check(hook(`server.route({ method: 'GET', path: '/buy', handler: () => '' });`));
    expect([code, errors]).toEqual([1, expect.stringMatching(/conflict/)]);
  });

  it('notes what needs the database, and fails nothing for it', async () => {
    expect(await check(hook(`await host.database.query('SELECT 1'); throw new Error('never reached');`))).toMatchObject(
      {
        ...sound,
        notes: [
          'note: onConfigured of the plugin ours was checked only up to where it uses host.database, which only a running gateway has',
        ],
      },
    );
  });

  it('notes the same of a stage', async () => {
    const create = `async (options, host) => { try { await host.database.query('SELECT 1'); } catch (cause) { throw new Error('closed', { cause }); } return {}; }`;
    expect((await check({ create })).notes).toContainEqual(
      'note: the stage ours was checked only up to where it uses host.database, which only a running gateway has',
    );
  });

  it('releases what a stage has kept', async () => {
    const create = `(options, host) => { host.keep('ours', () => ({ [Symbol.dispose]() { console.error('released'); } })); return {}; }`;
    expect(await check({ create })).toMatchObject({ code: 0, errors: 'released\n' });
  });
});
