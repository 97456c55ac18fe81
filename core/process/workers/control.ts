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

const doneLine = 'done'; // last line of a successful response

/** Rejects with the reason if the action fails. */
export type PerformAction = (action: Action, reportProgress: (line: string) => void) => Promise<void>;

/** Thrown if no process listens on the data folder's socket. */
export class NoSupervisor extends Error {
  override readonly name = 'NoSupervisor';
}

/** Takes orders for a supervisor. Only the supervisor's own user can connect. */
export class ControlSocket {
  readonly #server: Server;
  readonly #dataFolder: string;

  constructor(dataFolder: string, perform: PerformAction, log: Logger) {
    this.#dataFolder = dataFolder;
    this.#server = createServer((incoming, response) =>
      runInBackground(log, 'handling an order from a command', () => respond(incoming, response, perform)),
    );
    this.#server.requestTimeout = 5_000;
  }

  /** @throws StartRefused, for example if another supervisor uses this data folder */
  async listen(): Promise<void> {
    const path = getSocketPath(this.#dataFolder);
    await openListener(this.#server, { path }).catch(({ cause }: StartRefused) => {
      const { code, message } = cause as NodeJS.ErrnoException;
      const isPathTooLong = code === 'EINVAL' || code === 'ENAMETOOLONG';
      throw new StartRefused(
        code === 'EADDRINUSE'
          ? `Another gateway with workers is using ${this.#dataFolder}. Stop it, or set another data.folder.`
          : `cannot open the socket ${path}: ${isPathTooLong ? 'the path is too long; set a shorter data.folder' : message}`,
        { cause },
      );
    });
  }

  /** Closes the socket, after giving commands up to a second to read their results. */
  async close(): Promise<void> {
    if (!(await isDiskResponsive({ path: getSocketPath(this.#dataFolder) }))) return this.#server.closeAllConnections();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await waitForFirst([closed], closeTimeoutMs);
    this.#server.closeAllConnections();
  }
}

function getSocketPath(dataFolder: string): string {
  return join(dataFolder, 'supervisor.sock');
}

async function respond(
  { method, url }: IncomingMessage,
  response: ServerResponse,
  perform: PerformAction,
): Promise<void> {
  const action = actions.find((name) => url === `/${name}`);
  if (method !== 'POST' || action === undefined) {
    response.writeHead(404).end();
    return;
  }
  const reportLine = (line: string) => response.write(`${line}\n`);
  try {
    await perform(action, reportLine);
    reportLine(doneLine);
  } catch (error) {
    reportLine(error instanceof Error ? error.message : String(error));
  }
  response.end();
}

/**
 * Sends an order to a data folder's supervisor and waits for the result. A restart takes as long as the requests in flight.
 *
 * @throws NoSupervisor, or Error with the reason if the action fails
 */
export async function sendOrder(
  dataFolder: string,
  action: Action,
  reportProgress: (line: string) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request({ socketPath: getSocketPath(dataFolder), method: 'POST', path: `/${action}` }, resolve)
    .on('error', reject)
    .end();
  const response = await promise.catch(({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT' || code === 'ECONNREFUSED')
      throw new NoSupervisor(`No gateway with workers is running on ${dataFolder}.`);
    throw new Error(`The supervisor of ${dataFolder} cannot be reached: ${message}`);
  });
  let lastLine: string | undefined;
  try {
    for await (const line of createInterface({ input: response })) {
      if (lastLine !== undefined) reportProgress(lastLine);
      lastLine = line;
    }
  } catch (error) {
    throw new Error('the supervisor exited before it was done', { cause: error });
  }
  if (lastLine !== doneLine) throw new Error(lastLine ?? 'the supervisor exited before it was done');
}
