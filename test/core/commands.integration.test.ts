import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

// Each test runs whole processes, on machines that do other things too.
vi.setConfig({ testTimeout: 60_000 });

const main = join(import.meta.dirname, '..', '..', 'core', 'main.ts');
const valid = `pipeline: [auth, plan, format, upstream, log]
upstreams:
  one: { format: chat, base_url: "http://one.test/v1", api_keys: [k] }
  off: { vendor: openai }
models: { test: { routes: [one/a, off/b] }, gone: { routes: [off/b] } }
`;

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-commands-'));
  file = join(folder, 'gateway.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs `gateway` in the test's folder until it ends. */
async function run(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(process.execPath, [main, ...words], { cwd: folder, env: { ...inherited, ...environment } });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, errors };
}

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

async function install(name: string, mainFile: string, source: string): Promise<void> {
  const about = { name, version: '1.0.0', type: 'module', exports: `./${mainFile}` };
  await write(join('node_modules', name, 'package.json'), JSON.stringify(about));
  await write(join('node_modules', name, mainFile), source);
}

const stageSource =
  "export const stage = { name: 'ours', description: 'Ours.', options: { type: 'object' }, create: () => ({}) };";

describe('gateway check', () => {
  it('reports a valid file and exits with 0', async () => {
    await writeFile(file, valid);
    expect(await run(['check'])).toMatchObject({
      code: 0,
      errors: '',
      out: expect.stringMatching(/^gateway\.yaml is valid\n/) as string,
    });
  });

  it('exits with 0 when its reader closes the pipe', async () => {
    await writeFile(file, valid);
    const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const child = spawn(process.execPath, [main, 'check'], { cwd: folder, env: inherited });
    child.stdout.destroy();
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([code, errors]).toEqual([0, '']);
  });

  it('prints stages, upstreams, models and what is off', async () => {
    await writeFile(file, valid);
    const { out } = await run(['check']);
    const expected = [
      /^pipeline\n {2}auth\b.*\n {2}plan\b.*\n {2}format\b.*\n {2}upstream {5}.*first_byte_timeout: \d+.*\n {2}log\b/m,
      /^ {2}one +chat +1 keys +http:\/\/one\.test\/v1$/m,
      /^ {2}test +one\/a$/m,
      /^note: upstream off is off: it has no API key$/m,
      /^note: model gone is not offered: all of its upstreams are off$/m,
    ];
    expect(expected.filter((pattern) => !pattern.test(out))).toEqual([]);
  });

  it('warns about a valid pipeline that is probably a mistake', async () => {
    await writeFile(file, valid.replace('[auth, plan, format, upstream, log]', '[format, { upstream: false }, log]'));
    const { code, out } = await run(['check']);
    expect([code, out.match(/^note: (?:anyone|model calls) .*$/gm)]).toEqual([
      0,
      [
        'note: anyone can call without a key: the pipeline has no stage that authenticates callers, such as auth',
        'note: model calls are refused: the pipeline has no stage that sends them to an upstream, such as upstream',
      ],
    ]);
  });

  it.each([
    ['upstream', 'sending model calls to an upstream'],
    ['log', 'recording requests'],
  ])('fails without the stage %s', async (stage, work) => {
    await writeFile(file, valid.replace(`, ${stage}`, ''));
    const { code, errors } = await run(['check']);
    expect([code, errors]).toEqual([
      1,
      `gateway.yaml:1:1 pipeline: has no stage for ${work}; add ${stage} to the list, or "${stage}: false" to do without\n`,
    ]);
  });

  it('prints hedging and resuming of a model', async () => {
    await writeFile(file, valid.replace('[one/a, off/b]', '[one/a, one/b], hedge_after: 5, resume: true'));
    expect((await run(['check'])).out).toMatch(/^ {2}test +one\/a → one\/b \(hedge after 5 s, resume\)$/m);
  });

  it('never prints a key', async () => {
    await writeFile(file, valid.replace('[k]', '["${KEY}"]'));
    const { code, out } = await run(['check'], { KEY: 'sk-secret' });
    expect([code, out]).toEqual([0, expect.not.stringContaining('sk-secret')]);
  });

  it('prints values with variables as written, never the values of variables', async () => {
    await write('ours.ts', stageSource.replace("'ours'", "'mine'"));
    const given = `plugins: [./ours.ts]\n${valid
      .replace('auth, plan', 'auth, mine: { token: "${TOK}", list: [{ in: "a ${TOK}" }] }, plan')
      .replace('http://one.test/v1', 'http://one.test/${TOK}/v1')
      .replace('one/a', '"one/a-${TOK}"')}`;
    await writeFile(file, given);
    const { code, out } = await run(['check'], { TOK: 'supersecretvalue' });
    expect([code, out]).toEqual([0, expect.not.stringContaining('supersecretvalue')]);
    expect(out).toMatch(/^ {2}mine +token: "\$\{TOK\}", list: \[\{"in":"a \$\{TOK\}"\}\]$/m);
    expect(out).toMatch(/^ {2}one .* http:\/\/one\.test\/\$\{TOK\}\/v1$/m);
  });

  it('prints each mistake on one line, nothing else, and exits with 1', async () => {
    await writeFile(file, valid.replace('auth', 'auht').replace('one/a', 'oen/a'));
    expect(await run(['check'])).toEqual({
      code: 1,
      out: '',
      errors: [
        'gateway.yaml:1:12 pipeline[0]: names the stage "auht", which does not exist; did you mean "auth"?',
        'gateway.yaml:5:28 models.test.routes[0]: goes to the upstream "oen", which does not exist; did you mean "one"?',
        '',
      ].join('\n'),
    });
  });

  it('explains how to pass another file when there is none', async () => {
    expect(await run(['check'])).toEqual({
      code: 1,
      out: '',
      errors: 'gateway.yaml: does not exist; pass another file with --config FILE\n',
    });
  });

  it.each([
    ['--config', ['--config', 'other.yaml', 'check'], {}],
    ['GATEWAY_CONFIG', ['check'], { GATEWAY_CONFIG: 'other.yaml' }],
  ])('takes another file from %s', async (_name, words, environment) => {
    await write('other.yaml', valid);
    expect((await run(words, environment)).out).toMatch(/^other\.yaml is valid\n/);
  });

  it('knows the stages of a package next to gateway.yaml', async () => {
    await install('daypass-ours', 'index.js', stageSource);
    await writeFile(file, `plugins: [daypass-ours]\n${valid.replace('[auth,', '[auth, ours,')}`);
    expect(await run(['check'])).toMatchObject({ code: 0, out: expect.stringMatching(/^ {2}ours$/m) as string });
  });

  it('reports that a package must be JavaScript', async () => {
    await install('daypass-typed', 'index.ts', 'export const a: number = 1;');
    await writeFile(file, `plugins: [daypass-typed]\n${valid}`);
    expect(await run(['check'])).toMatchObject({
      code: 1,
      errors:
        'gateway.yaml:1:11 plugins[0]: cannot be loaded: packages must be JavaScript: Node does not run TypeScript inside node_modules; fix the plugin, or remove it from the list\n',
    });
  });

  it('reports that a package is not installed', async () => {
    await writeFile(file, `plugins: [daypass-nowhere]\n${valid}`);
    expect(await run(['check'])).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /^gateway\.yaml:1:11 plugins\[0\]: cannot be loaded: .*'daypass-nowhere'.*; write a path/,
      ) as string,
    });
  });

  it.each([
    ["import './nowhere.ts';", "Cannot find module '/nowhere.ts' imported from /ours.ts"],
    ["import 'left-pad';", "Cannot find package 'left-pad' imported from /ours.ts"],
    [
      "//\nimport { x } from 'daypass';",
      "The requested module 'daypass' does not provide an export named 'x' (/ours.ts:2)",
    ],
    ['//\nconst a = [;', 'Expression expected (/ours.ts:2)'],
  ])('reports where the source %j is wrong', async (source, wrong) => {
    await write('ours.ts', source);
    await writeFile(file, `plugins: [./ours.ts]\n${valid}`);
    const { code, errors } = await run(['check']);
    expect([code, errors.replaceAll(folder, '')]).toEqual([
      1,
      `gateway.yaml:1:11 plugins[0]: cannot be loaded: ${wrong}; fix the plugin, or remove it from the list\n`,
    ]);
  });

  it.each([
    [{ title: 'ours.title' }, 'text "ours.title" not found'],
    [{ styles: ['ours.css'] }, 'asset "ours.css" not found'],
    [{ template: '/nowhere.eta' }, 'template /nowhere.eta not found'],
  ])('reports a page that cannot be shown with %j', async (settings, wrong) => {
    const page = { path: '/ours', role: 'public', title: 'layout.sign_in', template: file, ...settings };
    await write(
      'ours.ts',
      `export const plugin = { name: 'ours', register(server) {
      server.gateway.page({ ...${JSON.stringify(page)}, show: () => ({}) });
    } };`,
    );
    await writeFile(file, `plugins: [./ours.ts]\n${valid}`);
    expect(await run(['check'])).toMatchObject({ code: 1, errors: `page "/ours": ${wrong}\n` });
  });
});

describe('gateway schema', () => {
  it('writes the schema next to gateway.yaml', async () => {
    await writeFile(file, valid);
    const { code, out } = await run(['schema']);
    const schema = JSON.parse(await readFile(join(folder, 'gateway.schema.json'), 'utf8')) as object;
    expect([code, out, schema]).toEqual([
      0,
      'gateway.schema.json written\n',
      expect.objectContaining({ title: 'gateway.yaml' }),
    ]);
  });

  it('prints it on request', async () => {
    const { out } = await run(['schema', '--output', '-']);
    expect(JSON.parse(out)).toHaveProperty('properties.pipeline');
  });

  it('writes it even for a gateway.yaml with mistakes', async () => {
    await writeFile(file, 'pipeline: [auht]');
    expect((await run(['schema'])).code).toBe(0);
  });

  it('includes the stages of plugins', async () => {
    await write('ours.ts', stageSource);
    await writeFile(file, 'plugins: [./ours.ts]');
    const { out } = await run(['schema', '-o', '-']);
    expect(JSON.parse(out)).toHaveProperty(
      'properties.pipeline.items.anyOf.0.enum',
      expect.arrayContaining(['auth', 'ours']),
    );
  });
});

describe('gateway schema, with failures,', () => {
  it('includes the loadable plugins and reports the others on stderr', async () => {
    await write('ours.ts', stageSource);
    const given = `plugins: [./nowhere.ts, ./ours.ts, "\${NOBODY}"]\n${valid.replace('[k]', '["${NOBODY}"]')}`;
    await writeFile(file, given);
    const { code, out, errors } = await run(['schema', '-o', '-']);
    expect([code, errors.replaceAll(folder, '')]).toEqual([
      0,
      [
        'gateway.yaml:1:11 plugins[0]: cannot be loaded: file /nowhere.ts not found; write a path that begins with ./ or the name of an installed package',
        'gateway.yaml:1:36 plugins[2]: the variable NOBODY is not set; set it, or give it a default: ${NOBODY:-…}',
        'note: the schema does not cover plugins that could not be loaded',
        '',
      ].join('\n'),
    ]);
    expect(JSON.parse(out)).toHaveProperty(
      'properties.pipeline.items.anyOf.0.enum',
      expect.arrayContaining(['auth', 'ours']),
    );
  });

  it('reports that the output folder does not exist', async () => {
    await writeFile(file, valid);
    expect(await run(['schema', '-o', 'nowhere/x'])).toEqual({
      code: 1,
      out: '',
      errors: 'nowhere/x cannot be written: its folder does not exist; choose another file with --output FILE\n',
    });
  });
});

describe('gateway start', () => {
  it('opens nothing and exits with 1 when gateway.yaml has mistakes', async () => {
    await writeFile(file, valid.replace('vendor: openai', 'vendor: opnai'));
    // A database that is tried would be told about: nothing listens there.
    expect(await run(['start'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })).toEqual({
      code: 1,
      out: '',
      errors:
        'gateway.yaml:4:18 upstreams.off.vendor: names the vendor "opnai", which does not exist; did you mean "openai"?\n',
    });
  });

  it('refuses the demo in production', async () => {
    await writeFile(file, valid.replace('vendor: openai', 'vendor: demo'));
    expect(await run(['start'], { NODE_ENV: 'production' })).toMatchObject({
      code: 1,
      errors:
        'gateway.yaml:4:8 upstreams.off: is a demo upstream, which is not allowed with NODE_ENV=production; remove it and its routes\n',
    });
  });
});

describe('gateway', () => {
  it.each([
    ['a command that does not exist', ['chekc']],
    ['an option that does not exist', ['check', '--fast']],
  ])('ends with 2 for %s', async (_name, words) => {
    expect((await run(words)).code).toBe(2);
  });
});
