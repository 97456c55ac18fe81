import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { renderPowershell } from '../../../../plugins/setup/script/render-scripts.ts';
import { testKey } from './parts-fixture.ts';
import { createParser } from './powershell-syntax.ts';
import { Interpreter } from './powershell/interpreter.ts';
import { type Asked, Killed, Machine } from './powershell/machine.ts';
import { type SyntaxNode, toTree } from './powershell/tree.ts';
import { NetObject } from './powershell/values.ts';
import { sampleData, sampleTool } from './sandbox.ts';

/*
 * setup.ps1 on computers that exist only here: an interpreter of its PowerShell runs it on a folder as drive C:, with the real
 * editing helper. What PowerShell itself does beyond that is as documented, and not seen.
 */

const url = 'https://ai.example';
const gateway = { url: `${url}/v1`, key: '@KEY@', models: { main: '@MODEL@', small: '@SMALL@' } };
const at = (path: string) => ({ path: `~/${path}`, windows: `%USERPROFILE%\\${path.replaceAll('/', '\\')}` });

/** The tools of `engine-fixture.ts`, with their places on Windows. */
const tools = [
  sampleTool('alpha', [
    { kind: 'place', variable: 'ALPHA_HOME', folder: '~/.alpha' },
    { kind: 'file', format: 'json', ...at('.alpha/settings.json'), text: JSON.stringify({ gateway }) },
  ]),
  sampleTool('beta', [
    {
      kind: 'file',
      format: 'toml',
      ...at('.beta/config.toml'),
      text: `model = "@MODEL@"\n\n[gateway]\nurl = "${url}"\n`,
    },
    { kind: 'variable', name: 'DAYPASS_API_KEY', value: '@KEY@' },
  ]),
  sampleTool('gamma', [
    { kind: 'file', format: 'text', ...at('.gamma/model.txt'), text: '@MODEL@' },
    { kind: 'file', format: 'block', ...at('.gamma/rc'), text: 'set-key @KEY@' },
  ]),
];

export const testScript = renderPowershell(sampleData(url, tools));
const renamed = testScript.replace('"slug":"daypass"', '"slug":"other"');
/** That of another gateway. */
export const otherScript = renamed.replaceAll(url, 'https://other.example');
/** That of the same one after its service got another name. */
export const renamedScript = renamed.replace('"formerSlugs":[]', '"formerSlugs":["older","daypass"]');

/** What existed before, by the path in the home. */
export const existing: Readonly<Record<string, string>> = {
  '.alpha/settings.json':
    '{\r\n\t// mine\r\n\t"theme": "dark",\r\n\t"gateway": {"url": "http://old.example" },\r\n}\r\n',
  '.beta/config.toml': '# mine\nmodel = "old"   # keep\n[gateway]\nurl = "http://old.example"\n',
  '.gamma/rc': 'set-colour blue',
};

export const setUp = ['-Yes', '-Tools', ['alpha', 'beta', 'gamma']];

export interface Computer extends AsyncDisposable {
  readonly machine: Machine;
  /** What the gateway was asked. */
  readonly asked: Asked[];
  write(files: Readonly<Record<string, string>>): void;
  read(path: string): string | undefined;
  /** Every file by its path in the home, and the variables of the user. */
  snapshot(): Promise<Readonly<Record<string, string>>>;
  /** Saves files and variables. @returns a function that restores them */
  save(): Promise<() => Promise<void>>;
  run(args: readonly unknown[], script?: string): Promise<{ readonly code: unknown; readonly output: string }>;
}

const called = [{ type: 'content_block_start', content_block: { name: 'report_ready' } }, { type: 'message_stop' }];
const events = called.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
const answers = {
  '/v1/key': { status: 200, body: '{"active_period":{}}' },
  '/v1/models': { status: 200, body: '{"data":[{"id":"dp/demo"},{"id":"dp/DEMO"}]}' },
  '*': { status: 200, body: events },
};

const inHome = (path: string) => `C:\\Users\\me\\${path.replaceAll('/', '\\')}`;

export async function createComputer(): Promise<Computer> {
  const root = await mkdtemp(join(tmpdir(), 'setup-windows-'));
  const savedAt = `${root}-saved`;
  const machine = new Machine(root, answers);
  const { asked } = machine;
  const home = join(root, 'Users', 'me');
  machine.programs.set('node', [String.raw`C:\Program Files\nodejs\node.exe`]);
  machine.environment.set('DAYPASS_API_KEY', testKey);
  machine.environment.set('OTHER_API_KEY', testKey);
  machine.environment.set('NODE_OPTIONS', '--require=evil.js');
  return {
    machine,
    asked,
    write(files) {
      for (const [path, text] of Object.entries(files)) machine.write(inHome(path), text);
    },
    read: (path) => machine.read(inHome(path)),
    async snapshot() {
      const entries = await readdir(home, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      const read = files.map(async (path) => [relative(home, path), await readFile(path, 'utf8')] as const);
      const variables = [...machine.registry].map(
        ([name, { value, kind }]) => [`%${name}%`, `${kind} ${value}`] as const,
      );
      return Object.fromEntries([...(await Promise.all(read)), ...variables]);
    },
    async save() {
      const [environment, registry] = [[...machine.environment], [...machine.registry]];
      await cp(root, savedAt, { recursive: true });
      return async () => {
        await rm(root, { recursive: true });
        await cp(savedAt, root, { recursive: true });
        machine.restore({ environment, registry });
      };
    },
    async run(args, script = testScript) {
      machine.lines.length = 0;
      const tree = await parsed(script);
      try {
        const output = new Interpreter(machine).run(tree, automatic(machine, args));
        if (output.length > 0) throw new Error(`the script has output: ${JSON.stringify(output)}`);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        machine.lastChange = Infinity;
        return { code: undefined, output: machine.lines.join('\n') };
      }
      return { code: machine.globals.get('lastexitcode'), output: machine.lines.join('\n') };
    },
    async [Symbol.asyncDispose]() {
      for (const folder of [root, savedAt]) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Variables that PowerShell sets, as for `irm | iex` in Windows PowerShell 5.1. */
function automatic(machine: Machine, args: readonly unknown[]) {
  return {
    args,
    host: machine.host,
    myinvocation: new NetObject('InvocationInfo', { MyCommand: new NetObject('ScriptInfo', {}) }),
    executioncontext: new NetObject('EngineIntrinsics', {
      SessionState: new NetObject('SessionState', {
        LanguageMode: 'FullLanguage',
        Path: new NetObject('PathIntrinsics', { GetUnresolvedProviderPathFromPSPath: (path: unknown) => path }),
      }),
    }),
    psversiontable: new NetObject('PSVersionTable', { PSVersion: new NetObject('Version', { Major: 5 }) }),
  };
}

const trees = new Map<string, SyntaxNode>();

async function parsed(script: string): Promise<SyntaxNode> {
  const known = trees.get(script);
  if (known) return known;
  const tree = toTree((await createParser())(script));
  trees.set(script, tree);
  return tree;
}
