import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseClaim } from '#core/platform/database/claim.ts';
import { runCommand } from '../../support/command-line.ts';
import { createBareDatabase, silentLog } from '../../support/database.ts';

// Each test runs whole processes, on machines that do other things too.
vi.setConfig({ testTimeout: 60_000 });

const main = join(import.meta.dirname, '..', '..', '..', 'core', 'main.mjs');
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
  const inherited = { LOG_FORMAT: 'text', PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
  const child = spawn(process.execPath, [main, ...words], { cwd: folder, env: { ...inherited, ...environment } });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number, out, errors };
}

/** The same in this process, which takes a tenth: where nothing is said about the process. */
async function runHere(words: readonly string[], environment: Record<string, string> = {}): Promise<Ended> {
  const { code, out, errors } = await runCommand(['--config', file, ...words], environment);
  return { code, out: out.replaceAll(`${folder}/`, ''), errors: errors.replaceAll(`${folder}/`, '') };
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

/** Libraries that only a running gateway uses. Each costs `check` a part of its time. */
const unused = [
  'undici',
  'kysely',
  'pg',
  '@mikro-orm/core',
  '@mikro-orm/migrations',
  'bullmq',
  'ioredis',
  'prom-client',
  'qrcode',
  'nodemailer',
];

/** Writes a module that lists what a process has loaded in the file `loaded`. */
async function writeWatch(): Promise<string> {
  const source = `import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const urls = new Set();
registerHooks({ resolve: (...parameters) => {
  const found = parameters[2](...parameters.slice(0, 2));
  urls.add(found.url);
  return found;
} });
process.once('exit', () => writeFileSync(${JSON.stringify(join(folder, 'loaded'))}, [...urls].join('\\n')));
`;
  await write('watch.mjs', source);
  return join(folder, 'watch.mjs');
}

describe('daypass check', () => {
  it('reports a valid file and exits with 0', async () => {
    await writeFile(file, valid);
    expect(await run(['check'])).toMatchObject({
      code: 0,
      errors: '',
      out: expect.stringMatching(/^gateway\.yaml is valid\n/) as string,
    });
  });

  it('loads no library that it does not use', async () => {
    await writeFile(file, valid);
    const { out, errors } = await run(['check'], {
      NODE_OPTIONS: `--import=${pathToFileURL(await writeWatch()).href}`,
    });
    expect([out, errors]).toEqual([expect.stringContaining('is valid'), '']);
    const loaded = await readFile(join(folder, 'loaded'), 'utf8');
    expect(loaded).toContain('/node_modules/ajv/');
    expect([...unused].filter((name) => loaded.includes(`/node_modules/${name}/`))).toEqual([]);
  });

  it('exits with 0 when its reader closes the pipe', async () => {
    await writeFile(file, valid);
    const inherited = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };
    const child = spawn(process.execPath, [main, 'check'], { cwd: folder, env: inherited });
    child.stdout.destroy();
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect([code, errors]).toEqual([0, '']);
  });

  it('prints each mistake on one line, nothing else, and exits with 78', async () => {
    await writeFile(file, valid.replace('auth', 'auht').replace('one/a', 'oen/a'));
    expect(await runHere(['check'])).toEqual({
      code: 78,
      out: '',
      errors: [
        'gateway.yaml:1:12 pipeline[0]: names the stage "auht", which does not exist; did you mean "auth"?',
        'gateway.yaml:5:28 models.test.routes[0]: refers to the upstream "oen", which does not exist; did you mean "one"?',
        '',
      ].join('\n'),
    });
  });

  it('knows the stages of a package and of a file next to gateway.yaml, and shows variables as written', async () => {
    await install('daypass-ours', 'index.js', stageSource);
    await write('mine.ts', stageSource.replace("'ours'", "'mine'"));
    const given = `plugins: [daypass-ours, ./mine.ts]\n${valid
      .replace('auth, plan', 'auth, ours, mine: { token: "${TOK}", list: [{ in: "a ${TOK}" }] }, plan')
      .replace('http://one.test/v1', 'http://one.test/${TOK}/v1')
      .replace('one/a', '"one/a-${TOK}"')}`;
    await writeFile(file, given);
    const { code, out } = await run(['check'], { TOK: 'supersecretvalue' });
    expect([code, out]).toEqual([0, expect.not.stringContaining('supersecretvalue')]);
    expect(out).toMatch(/^ {2}ours\n {2}mine +token: "\$\{TOK\}", list: \[\{"in":"a \$\{TOK\}"\}\]$/m);
    expect(out).toMatch(/^ {2}one .* http:\/\/one\.test\/\$\{TOK\}\/v1 +\w/m);
  });

  it('reports what is wrong with each package and each source, and where', async () => {
    await install('daypass-typed', 'index.ts', 'export const a: number = 1;');
    const sources = {
      'module.ts': "import './nowhere.ts';",
      'package.ts': "import 'left-pad';",
      'name.ts': "//\nimport { x } from 'daypass';",
      'syntax.ts': '//\nconst a = [;',
    };
    for (const [name, source] of Object.entries(sources)) await write(name, source);
    const listed = ['daypass-typed', 'daypass-nowhere', ...Object.keys(sources).map((name) => `./${name}`)];
    await writeFile(file, `plugins:\n${listed.map((name) => `  - ${name}\n`).join('')}${valid}`);
    const { code, errors } = await run(['check']);
    const wrong = errors
      .replaceAll(folder, '')
      .split('\n')
      .map((line) => /plugins\[\d\]: cannot be loaded: (.*); [^;]*$/.exec(line)?.[1]);
    expect([code, wrong]).toEqual([
      78,
      [
        'packages must be JavaScript: Node does not run TypeScript inside node_modules',
        expect.stringMatching(/^Cannot find package 'daypass-nowhere' /),
        "Cannot find module '/nowhere.ts' imported from /module.ts",
        "Cannot find package 'left-pad' imported from /package.ts",
        "The requested module 'daypass' does not provide an export named 'x' (/name.ts:2)",
        'Expression expected (/syntax.ts:2)',
        undefined,
      ],
    ]);
    expect(errors).toMatch(/^gateway\.yaml:2:5 plugins\[0\]: .*; fix the plugin, or remove it from the list$/m);
    expect(errors).toMatch(/^gateway\.yaml:3:5 plugins\[1\]: .*; write a path that begins with \.\/ or the name/m);
  });

  it('reports a page that cannot be shown', async () => {
    const page = { path: '/ours', role: 'public', title: 'ours.title', template: file };
    await write(
      'ours.ts',
      `export const plugin = { name: 'ours', register(server) {
      server.gateway.page({ ...${JSON.stringify(page)}, show: () => ({}) });
    } };`,
    );
    await writeFile(file, `plugins: [./ours.ts]\n${valid}`);
    expect(await runHere(['check'])).toMatchObject({ code: 1, errors: 'page "/ours": text "ours.title" not found\n' });
  });
});

describe('daypass schema', () => {
  it('includes the loadable plugins and reports the others on stderr', async () => {
    await write('ours.ts', stageSource);
    const given = `plugins: [./nowhere.ts, ./ours.ts, "\${NOBODY}"]\n${valid.replace('[k]', '["${NOBODY}"]')}`;
    await writeFile(file, given);
    const { code, out, errors } = await runHere(['schema', '-o', '-']);
    expect([code, errors]).toEqual([
      0,
      [
        'gateway.yaml:1:11 plugins[0]: cannot be loaded: file nowhere.ts not found; write a path that begins with ./ or the name of an installed package',
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
});

describe('daypass start', () => {
  it('opens nothing and exits with 78 when gateway.yaml has mistakes', async () => {
    await writeFile(file, valid.replace('vendor: openai', 'vendor: opnai'));
    // A database that is tried would be told about: nothing listens there.
    expect(await run(['start'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })).toEqual({
      code: 78,
      out: '',
      errors:
        'gateway.yaml:4:18 upstreams.off.vendor: names the vendor "opnai", which does not exist; did you mean "openai"?\n',
    });
  });

  it('logs why it has not started as one line of JSON without a terminal', async () => {
    await writeFile(file, valid.replace('vendor: openai', 'vendor: opnai'));
    const { code, out, errors } = await run(['start'], { LOG_FORMAT: '' });
    expect({ code, out, line: JSON.parse(errors) as unknown }).toMatchObject({
      code: 78,
      out: '',
      line: {
        level: 'error',
        error: expect.stringMatching(/^gateway\.yaml:4:18 .* did you mean "openai"\?$/) as string,
      },
    });
  });

  // Beside a gateway that runs: test/e2e/instances.test.ts.
  it('says in one sentence of JSON that another gateway uses the database', async () => {
    await writeFile(file, valid);
    const url = await createBareDatabase();
    await using claim = await DatabaseClaim.acquire(url, 'exclusive', silentLog);
    expect(claim).toBeDefined();
    const { code, out, errors } = await run(['start'], { LOG_FORMAT: 'json', DATABASE_URL: url });
    const { error: sentence } = JSON.parse(errors.trimEnd().split('\n').at(-1) ?? '') as { error: string };
    expect({ code, out, sentence }).toEqual({
      code: 1,
      out: '',
      sentence:
        'Another gateway uses this database. Several gateways need Redis to share their limits: set REDIS_URL for all of them.',
    });
    expect(errors).not.toMatch(/^\s+at |could not be closed/m);
  });

  it.each(['check', 'start'])('refuses demos at a public URL, as %s does, with the places of all', async (command) => {
    const demos = valid.replace('vendor: openai', 'vendor: demo');
    const google = 'sign_in: { google: { client_id: id, client_secret: s } }';
    const service = 'service: { base_url: "https://ai.example.com" }';
    await writeFile(file, `${demos}${service}\n${google}\nlocal_sign_in: always\npayments: { order_minutes: 30 }\n`);
    const why = 'while service.base_url is not this machine';
    const unless = 'or for a demonstration set service: { unsafe_public_demo: true }';
    const { code, errors } = await (command === 'check' ? runHere : run)([command]);
    expect({ code, lines: errors.trimEnd().split('\n') }).toEqual({
      code: 78,
      lines: [
        `gateway.yaml:4:8 upstreams.off: is a demo upstream, which is not allowed ${why}; remove it and its routes, ${unless}`,
        expect.stringContaining(
          'gateway.yaml:6:22 service.base_url: is not this machine, and payments.provider is not set, so customers would pay in the sandbox',
        ),
        expect.stringContaining(
          'gateway.yaml:8:16 local_sign_in: is "always", which lets anyone on this machine sign in',
        ),
      ],
    });
  });

  it('refuses the demo in production', async () => {
    await writeFile(file, valid.replace('vendor: openai', 'vendor: demo'));
    expect(await run(['start'], { NODE_ENV: 'production' })).toMatchObject({
      code: 78,
      errors:
        'gateway.yaml:4:8 upstreams.off: is a demo upstream, which is not allowed with NODE_ENV=production; remove it and its routes\n',
    });
  });
});
