import { hash } from 'node:crypto';
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import type { ScriptData, ScriptTool } from '../../../../plugins/setup/script/script-data.ts';
import { pathOf, sendJson, startStub, testKey } from './parts-fixture.ts';
import { hasCommand, runShell, type Shell, type ShellRun } from './shells.ts';

/*
 * Runs the whole of setup.sh in throwaway homes: with the real engine and the real editing helper, tools that do nothing,
 * and a server in place of the gateway.
 */

/** What runs in a sandbox needs of the machine. No other program is on its PATH. */
const programs =
  'awk cat chmod cmp cp curl env cut date dd diff grep head id ls mkdir mktemp mv printf readlink rm rmdir sed sh sleep sort stty tail touch tr uname wc';

export interface SandboxOptions {
  readonly shell: Shell;
  /** `sampleTools` unless others are given. */
  readonly tools?: readonly ScriptTool[];
  /** More of the data. */
  readonly data?: Partial<ScriptData>;
  /** What runs the program. */
  readonly helper?: 'node' | 'none';
  /** The name of the home folder. */
  readonly home?: string;
  /** Programs of tools on the PATH; those of `sampleTools` unless others are given. */
  readonly commands?: readonly string[];
  /** Texts of programs on the PATH, by name, instead of those of this machine. `uname` prints Linux unless it is among them. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** A home folder, and setup.sh for it. */
export interface Sandbox extends AsyncDisposable {
  readonly home: string;
  readonly folder: string;
  readonly script: string;
  /** Of the gateway. */
  readonly url: string;
  run(args: string, environment?: NodeJS.ProcessEnv): Promise<ShellRun>;
  /** Writes a file of the home, with its folders. */
  write(path: string, text: string, mode?: number): Promise<void>;
  read(path: string): Promise<string>;
  /** Octal permissions of a file of the home. */
  modeOf(path: string): Promise<string>;
  /** Everything in the home, in order: kind and permissions, path, and the hash of the bytes or the target of the link. */
  snapshot(): Promise<string[]>;
}

export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'setup-home-'));
  const home = join(folder, options.home ?? 'home');
  const [temporary, bin, script] = [join(folder, 'tmp'), join(folder, 'bin'), join(folder, 'setup.sh')];
  await Promise.all([home, temporary, bin].map((path) => mkdir(path)));
  await fillPath(bin, options);
  const gateway = await startStub((path, response) => {
    if (path === '/v1/key') sendJson(response, 200, { object: 'key', active_period: { active: true } });
    else sendJson(response, 200, { object: 'list', data: [{ id: 'dp/demo' }, { id: 'dp/other' }] });
  });
  await writeFile(script, renderShell({ ...sampleData(gateway.url, options.tools ?? sampleTools), ...options.data }));
  const [command, ...prefix] = options.shell.command;
  return {
    home,
    folder,
    script,
    url: gateway.url,
    async run(args, environment = {}) {
      const env = {
        PATH: bin,
        HOME: home,
        TMPDIR: temporary,
        SHELL: '/bin/bash',
        DAYPASS_API_KEY: testKey,
        ...environment,
      };
      const shell = [pathOf(command), ...prefix] as const;
      const run = await runShell(shell, [script, ...args.split(' ').filter(Boolean)], { env, cwd: folder });
      const leftovers = await readdir(temporary);
      if (leftovers.length > 0) throw new Error(`temporary files are left: ${leftovers.join(', ')}`);
      return run;
    },
    async write(path, text, mode) {
      await mkdir(dirname(join(home, path)), { recursive: true });
      await writeFile(join(home, path), text);
      if (mode !== undefined) await chmod(join(home, path), mode);
    },
    read: (path) => readFile(join(home, path), 'utf8'),
    modeOf: async (path) => ((await stat(join(home, path))).mode & 0o7777).toString(8),
    snapshot: () => listFolder(home, '.'),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function fillPath(
  bin: string,
  { helper = 'node', commands = ['merger', 'liner', 'whole'], programs: others }: SandboxOptions,
): Promise<void> {
  for (const name of programs.split(' ')) if (hasCommand(name)) await symlink(pathOf(name), join(bin, name));
  if (helper === 'node') await symlink(pathOf('node'), join(bin, 'node'));
  for (const name of commands) await writeFile(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  for (const [name, text] of Object.entries({ uname: '#!/bin/sh\necho Linux\n', ...others })) {
    // Not through the link, to the program of this machine.
    await rm(join(bin, name), { force: true });
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
}

async function listFolder(root: string, path: string): Promise<string[]> {
  const full = join(root, path);
  const entry = await lstat(full);
  const mode = (entry.mode & 0o7777).toString(8);
  if (entry.isSymbolicLink()) return [`link ${path} -> ${await readlink(full)}`];
  if (!entry.isDirectory()) return [`file ${mode} ${path} ${hash('sha256', await readFile(full)).slice(0, 16)}`];
  const inside = await Promise.all((await readdir(full)).toSorted().map((name) => listFolder(root, join(path, name))));
  return [`folder ${mode} ${path}`, ...inside.flat()];
}

/** Data of a gateway with two models and these tools. */
export function sampleData(baseUrl: string, tools: readonly ScriptTool[]): ScriptData {
  return {
    service: 'Daypass',
    slug: 'daypass',
    formerSlugs: [],
    baseUrl,
    keyPrefix: 'dp',
    keyVariable: 'DAYPASS_API_KEY',
    models: [
      { name: 'dp/demo', context: 200_000, output: 32_000, features: 'co' },
      { name: 'dp/other', features: 'n' },
    ],
    defaults: [{ format: 'messages', model: 'dp/demo', small: 'dp/other' }],
    tools,
  };
}

/** A tool whose actions are the same for all models. */
export function sampleTool(
  id: string,
  actions: ScriptTool['variants'][number]['actions'],
  more: Partial<ScriptTool> = {},
): ScriptTool {
  return {
    id,
    name: `Tool ${id}`,
    format: 'messages',
    isOnRequest: false,
    commands: [id],
    folders: [`~/.${id}`],
    start: `${id} --go`,
    variants: [{ features: ['co', 'co-same', 'n', 'n-same'], actions }],
    ...more,
  };
}

/** One tool of each kind: settings that are merged, lines, a whole file, variables. */
export const sampleTools: readonly ScriptTool[] = [
  sampleTool('merger', [
    { kind: 'place', variable: 'MERGER_HOME', folder: '~/.merger' },
    {
      kind: 'file',
      format: 'toml',
      path: '~/.merger/config.toml',
      text: 'model = "@MODEL@"\nwindow = @CONTEXT@\n\n[provider]\nkey = "@KEY@"\nsmall = "@SMALL@"',
    },
    { kind: 'note', text: 'Restart it.' },
  ]),
  sampleTool('liner', [
    { kind: 'file', format: 'block', path: '~/.config/liner/linerc', text: 'use @MODEL@\nwith "$DAYPASS_API_KEY"' },
    { kind: 'variable', name: 'DAYPASS_API_KEY', value: '@KEY@' },
  ]),
  sampleTool('whole', [{ kind: 'file', format: 'text', path: '~/.config/whole/model.txt', text: '@MODEL@' }]),
  sampleTool(
    'environment',
    [
      { kind: 'variable', name: 'OPENAI_API_KEY', value: '@KEY@' },
      { kind: 'variable', name: 'OPENAI_BASE_URL', value: 'https://ai.example/v1' },
    ],
    { isOnRequest: true, commands: [], folders: [] },
  ),
];
