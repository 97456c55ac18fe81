import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDiskResponsive, openListener } from '#core/gateway/operator-listener/socket.ts';
import { runInBackground } from '#core/platform/background.ts';
import { StartRefused } from '#core/platform/errors/start-refused.ts';
import type { Logger } from '#core/platform/logger.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';

const { createServer, request } = process.getBuiltinModule('node:http');

const actions = ['restart', 'reload', 'stop'] as const;
export type Action = (typeof actions)[number];

const closeTimeoutMs = 1_000;

const done = 'done';

/** Performs the action and reports its progress. @throws Error with the reason */
export type Perform = (action: Action, tell: (line: string) => void) => Promise<void>;

/** No process listens on the data folder's socket. */
export class NoSupervisor extends Error {
  override readonly name = 'NoSupervisor';
}

/** The socket on which a supervisor takes orders. Only the supervisor's user may connect. */
export class ControlSocket {
  readonly #server: Server;
  readonly #dataFolder: string;

  constructor(dataFolder: string, perform: Perform, log: Logger) {
    this.#dataFolder = dataFolder;
    this.#server = createServer((incoming, response) =>
      runInBackground(log, 'an order of a command', () => answer(incoming, response, perform)),
    );
    this.#server.requestTimeout = 5_000;
  }

  /** @throws StartRefused, also if another supervisor uses this data folder */
  async listen(): Promise<void> {
    const path = socketOf(this.#dataFolder);
    await openListener(this.#server, { path }).catch(({ cause }: StartRefused) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      const isLong = code === 'EINVAL' || code === 'ENAMETOOLONG';
      throw new StartRefused(
        code === 'EADDRINUSE'
          ? `Another gateway with workers runs on ${this.#dataFolder}. Stop it, or set another data.folder.`
          : `cannot open the socket ${path}: ${isLong ? 'the path is too long; set a shorter data.folder' : message}`,
        { cause },
      );
    });
  }

  /** Lets commands read the results of their orders. */
  async close(): Promise<void> {
    if (!(await isDiskResponsive({ path: socketOf(this.#dataFolder) }))) return this.#server.closeAllConnections();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await waitForFirst([closed], closeTimeoutMs);
    this.#server.closeAllConnections();
  }
}

function socketOf(dataFolder: string): string {
  return join(dataFolder, 'supervisor.sock');
}

/** Responds with lines of text; the last one is `done` or the error. */
async function answer({ method, url }: IncomingMessage, response: ServerResponse, perform: Perform): Promise<void> {
  const action = actions.find((name) => url === `/${name}`);
  if (method !== 'POST' || action === undefined) {
    response.writeHead(404).end();
    return;
  }
  const tell = (line: string) => response.write(`${line}\n`);
  try {
    await perform(action, tell);
    tell(done);
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
  response.end();
}

/**
 * Sends an order to the supervisor of a data folder and waits until it is done: a restart takes as long as the requests in flight.
 *
 * @throws NoSupervisor; Error with the reason
 */
export async function order(dataFolder: string, action: Action, tell: (line: string) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ socketPath: socketOf(dataFolder), method: 'POST', path: `/${action}` }, resolve)
    .on('error', reject)
    .end();
  const response = await promise.catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT' || code === 'ECONNREFUSED')
      throw new NoSupervisor(`No gateway with workers runs on ${dataFolder}.`);
    throw new Error(`The supervisor of ${dataFolder} cannot be reached: ${message}`);
  });
  let last: string | undefined;
  try {
    for await (const line of createInterface({ input: response })) {
      if (last !== undefined) tell(last);
      last = line;
    }
  } catch (error) {
    throw new Error('the supervisor has ended before it was done', { cause: error });
  }
  if (last !== done) throw new Error(last ?? 'the supervisor has ended before it was done');
}
