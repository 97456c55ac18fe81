import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCommand, pathOf } from '../programs.ts';
import { runShell, type ShellRun } from './shells.ts';

export { pathOf };

/*
 * Runs functions of the program without the rest of it: what sends requests, reads keys and asks models.
 */

const sources = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'program');

export const testKey = `dp-${'Ab3dEf'.repeat(8)}Z`;
export const keyHint = `dp-Ab3d...${testKey.slice(-4)}`;

export interface PartsRun extends ShellRun {
  /** Files that are left in the home and in the temporary folder. */
  readonly leftovers: readonly string[];
}

export interface PartsOptions {
  readonly baseUrl: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Replaces PATH, see `toolFolder`. */
  readonly path?: string;
  /** Files of the home, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** More of the data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Runs lines of JavaScript with `run`, `machine`, `printLine` and the functions of these modules, in an empty home. */
export async function runParts(body: string, options: PartsOptions): Promise<PartsRun> {
  const { baseUrl, environment = {}, path = process.env['PATH'], files = {}, data = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'setup-parts-'));
  const [home, temporary] = [join(folder, 'home'), join(folder, 'tmp')];
  await Promise.all([mkdir(home), mkdir(temporary)]);
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
  const script = join(folder, 'script.mjs');
  const names = {
    service: 'Daypass',
    slug: 'daypass',
    formerSlugs: [],
    keyPrefix: 'dp',
    keyVariable: 'DAYPASS_API_KEY',
  };
  await writeFile(script, partsScript(body, { ...names, baseUrl, ...data }));
  try {
    const env = { PATH: path, HOME: home, TMPDIR: temporary, SETUP_TERMINAL: 'no', ...environment };
    const run = await runShell([process.execPath], [script], { env, cwd: home });
    const leftovers = [...(await readdir(home)), ...(await readdir(temporary))].filter((name) => !(name in files));
    return { ...run, leftovers };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function partsScript(body: string, data: unknown): string {
  const modules = ['gateway', 'key', 'machine', 'paths', 'question', 'run'];
  const imports = modules.map((name) => `import * as ${name}_ from ${JSON.stringify(join(sources, `${name}.mjs`))};`);
  return `${imports.join('\n')}
const { run, printLine, Stop } = run_;
const { machine, decode } = machine_;
const { request, errorMessage, sendByRuntime } = gateway_;
const { readKey, checkKey } = key_;
const { askModel } = question_;
const { locateHome } = paths_;
run.data = ${JSON.stringify(data)};
run.slug = run.data.slug;
function main() {
${body}
}
if (process.argv[2] === '--request') sendByRuntime(JSON.parse(decode(machine.read(0))));
else {
  try {
    main();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    machine.printError(error.message + '\\n');
    process.exitCode = error.code;
  }
}
`;
}

const basics = 'awk cat cut date dd env grep ls mktemp printf rm sed stty tail timeout tr true uname wc'.split(' ');

/** What setup.sh needs of a system beside these. Neither node nor python3 nor a program that sends requests is among them. */
export const systemTools =
  'sh dash awk basename env cat chmod cmp cp cut date dd diff dirname expr grep head id ls mkdir mktemp mv printf ps readlink rm rmdir sed sleep sort stty tail tee test timeout touch tr true uname wc'.split(
    ' ',
  );

/** A folder for PATH with what every system has, and these programs, so that others are not found. */
export async function toolFolder(programs: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'setup-tools-'));
  for (const name of new Set([...basics, ...programs])) {
    if (hasCommand(name)) await symlink(pathOf(name), join(folder, name));
  }
  return folder;
}

export interface StubGateway extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly StubRequest[];
}

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server in place of the gateway. Its answers depend on the path. */
export async function startStub(
  answer: (path: string, response: ServerResponse) => void,
  address = '127.0.0.1',
): Promise<StubGateway> {
  const requests: StubRequest[] = [];
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body });
      answer(path, response);
    });
  };
  const server = createServer(listener);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, address, resolve);
  await promise;
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Sends JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'www-authenticate': 'Bearer' })
    .end(JSON.stringify(body));
}
