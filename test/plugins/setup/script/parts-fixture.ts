import { mkdtemp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCommand, pathOf } from '../programs.ts';
import { runShell, type ShellRun } from './shells.ts';

export { pathOf };

/*
 * Runs functions of the shell engine without the rest of it: the parts that send requests, read keys and ask models.
 */

const sources = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'sh');
const parts =
  'base.sh json.sh paths.sh former.sh helper.sh clients.sh client-programs.sh http.sh key.sh ask-model.sh'.split(' ');

export const testKey = `dp-${'Ab3dEf'.repeat(8)}Z`;
export const keyHint = `dp-Ab3d...${testKey.slice(-4)}`;

export interface PartsRun extends ShellRun {
  /** Files that are left in the home and in the temporary folder. */
  readonly leftovers: readonly string[];
}

export interface PartsOptions {
  readonly shell?: readonly [string, ...string[]];
  readonly baseUrl: string;
  readonly environment?: NodeJS.ProcessEnv;
  /** Replaces PATH, see `toolFolder`. */
  readonly path?: string;
  /** Files of the home, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Traces from the start, as `sh -x` does. */
  readonly isTraced?: boolean;
}

/** Runs lines of shell after the parts, in an empty home. */
export async function runParts(body: string, options: PartsOptions): Promise<PartsRun> {
  const { baseUrl, shell = ['dash'], environment = {}, path = process.env['PATH'], files = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), 'setup-parts-'));
  const [home, temporary] = [join(folder, 'home'), join(folder, 'tmp')];
  await Promise.all([mkdir(home), mkdir(temporary)]);
  for (const [name, text] of Object.entries(files)) await writeFile(join(home, name), text);
  const script = join(folder, 'script.sh');
  await writeFile(script, `${options.isTraced ? 'set -x\n' : ''}${await partsScript(baseUrl)}\n${body}\n`);
  try {
    const env = { PATH: path, HOME: home, TMPDIR: temporary, ...environment };
    const run = await runShell(shell, [script], { env, cwd: home });
    return {
      ...run,
      leftovers: [...(await readdir(home)), ...(await readdir(temporary))].filter((name) => !(name in files)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The parts, and the data that the rendered script would have. */
export async function partsScript(baseUrl: string): Promise<string> {
  const texts = await Promise.all(parts.map((part) => readFile(join(sources, part), 'utf8')));
  const data = `service='Daypass' slug='daypass' former_slugs='' base_url='${baseUrl}' key_prefix='dp' key_variable='DAYPASS_API_KEY'`;
  return ['set -u', '[ -n "${ZSH_VERSION-}" ] && emulate sh', data, ...texts, 'start_base'].join('\n');
}

const basics = 'awk cat cut date dd env grep ls mktemp printf rm sed stty tail timeout tr true uname wc'.split(' ');

/** What setup.sh needs of a system beside these. Neither node nor python3 nor a program that sends requests is among them. */
export const systemTools =
  'sh dash awk basename cat chmod cmp cp cut date dd diff dirname env expr grep head id ls mkdir mktemp mv printf ps readlink rm rmdir sed sleep sort stty tail tee test timeout touch tr true uname wc'.split(
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
