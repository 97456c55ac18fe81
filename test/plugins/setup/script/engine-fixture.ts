import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import type { ScriptData, ScriptTool } from '../../../../plugins/setup/script/script-data.ts';
import { sendJson, startStub, testKey } from './parts-fixture.ts';
import { sampleData, sampleTool } from './sandbox.ts';
import { runShell, type ShellRun } from './shells.ts';

/*
 * The whole script with tools that exist only here, one for each way of setting a tool up, in throwaway homes.
 */

/** One tool for each way of setting a tool up. */
function testTools(baseUrl: string): ScriptTool[] {
  const gateway = { url: `${baseUrl}/v1`, key: '@KEY@', models: { main: '@MODEL@', small: '@SMALL@' } };
  const toml = `model = "@MODEL@"\n\n[gateway]\nurl = "${baseUrl}"\n`;
  return [
    sampleTool('alpha', [
      { kind: 'file', format: 'json', path: '~/.alpha/settings.json', text: JSON.stringify({ gateway }) },
    ]),
    sampleTool('beta', [
      { kind: 'file', format: 'toml', path: '~/.beta/config.toml', text: toml },
      { kind: 'variable', name: 'DAYPASS_API_KEY', value: '@KEY@' },
    ]),
    sampleTool('gamma', [
      { kind: 'file', format: 'text', path: '~/.config/gamma/model.txt', text: '@MODEL@' },
      { kind: 'file', format: 'block', path: '~/.gamma/rc', text: 'set-key @KEY@' },
    ]),
  ];
}

const rendered = new Map<string, string>();

/** The whole script, with these tools. */
export function renderTest(baseUrl: string, more: Partial<ScriptData> = {}): string {
  const known = `${baseUrl} ${more.slug}`;
  const text = rendered.get(known) ?? renderShell({ ...sampleData(baseUrl, testTools(baseUrl)), ...more });
  rendered.set(known, text);
  return text;
}

/** What existed before, in the ways of the three tools. */
export const existing: Readonly<Record<string, string>> = {
  '.alpha/settings.json': '{\n\t// mine\n\t"theme": "dark",\n\t"gateway": {"url": "http://old.example" },\n}\n',
  '.beta/config.toml': '# mine\nmodel = "old"   # keep\n[gateway]\nurl = "http://old.example"\n',
  '.gamma/rc': 'set-colour blue',
  '.profile': 'PATH=$HOME/bin:$PATH\n',
};

/** The files of a home, by path: type, permissions and content of each, with `HOME` for its path. */
export type Snapshot = Readonly<Record<string, string>>;

export interface EngineOptions {
  readonly shell?: readonly [string, ...string[]];
  readonly environment?: NodeJS.ProcessEnv;
  readonly path?: string | undefined;
  /** The script, instead of that of `renderTest`. */
  readonly script?: string;
  /** Runs the command that starts the shell. */
  readonly prefix?: readonly string[];
}

export interface TestHome extends AsyncDisposable {
  readonly folder: string;
  readonly home: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  read(path: string): Promise<string>;
  snapshot(): Promise<Snapshot>;
  /** Runs the script with these options, with a key, without a terminal. Its output has the home as `HOME`. */
  run(args: readonly string[], options?: EngineOptions): Promise<ShellRun & { readonly output: string }>;
}

export const setUp = ['--yes', '--tools', 'alpha,beta,gamma'];

/** @param name of the home folder @param baseUrl of the gateway in the script */
export async function createHome(baseUrl: string, name = 'home'): Promise<TestHome> {
  const folder = await mkdtemp(join(tmpdir(), 'setup-engine-'));
  const [home, temporary] = [join(folder, name), join(folder, 'tmp')];
  await Promise.all([mkdir(home), mkdir(temporary)]);
  await chmod(folder, 0o755);
  await chmod(temporary, 0o777);
  return {
    folder,
    home,
    async write(files) {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(home, path)), { recursive: true });
        await writeFile(join(home, path), text);
      }
    },
    read: (path) => readFile(join(home, path), 'utf8'),
    snapshot: () => readTree(home),
    async run(args, { shell = ['dash'], environment, path, script: text = renderTest(baseUrl), prefix = [] } = {}) {
      const script = join(folder, `setup-${Math.random()}.sh`);
      await writeFile(script, text, { mode: 0o644 });
      const env = {
        PATH: path ?? process.env['PATH'],
        HOME: home,
        TMPDIR: temporary,
        SHELL: '/bin/sh',
        DAYPASS_API_KEY: testKey,
        ...environment,
      };
      const [command = 'dash', ...words] = [...prefix, ...shell, script, ...args];
      const run = await runShell([command], words, { env, cwd: folder });
      await rm(script);
      return { ...run, output: (run.stdout + run.stderr).replaceAll(home, 'HOME') };
    },
    async [Symbol.asyncDispose]() {
      await runShell(['chmod'], ['-R', 'u+rwx', folder], { env: process.env });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function readTree(root: string): Promise<Snapshot> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const described = entries.map(async (entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    const rights = (mode & 0o777).toString(8);
    if (entry.isSymbolicLink()) return [relative(root, path), `link ${await readlink(path)}`] as const;
    if (entry.isDirectory()) return [relative(root, path), `folder ${rights}`] as const;
    const text = await readFile(path, 'utf8');
    return [relative(root, path), `${rights} ${text.replaceAll(root, 'HOME')}`] as const;
  });
  return Object.fromEntries((await Promise.all(described)).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A gateway that accepts the key, at any path. */
export function startAcceptingStub() {
  return startStub((path, response) => {
    if (path.endsWith('/v1/key')) sendJson(response, 200, { object: 'key', active_period: { active: true } });
    else sendJson(response, 200, { data: [{ id: 'dp/demo' }, { id: 'dp/other' }] });
  });
}
