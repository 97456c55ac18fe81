import { type CallHandler, Connection, type ConnectionOwner } from './connection.ts';
import { type Connect, createConnector } from './connector.ts';
import { requestPieces, type UpstreamCall } from './request-head.ts';

/** Responses after which an upstream is trusted to send no surplus bytes; of later ones, one in 16 is checked. */
const surplusChecks = { responses: 1_000, oneIn: 16 };

/** Idle connections are closed after `usual`, or `reserve` before the timeout announced by the upstream. */
const idleTimeMs = { usual: 10_000, longest: 60_000, reserve: 2_000, check: 500 };

interface ConnectionPoolOptions {
  /** Ms that a connection rests after a checked response, so that its socket is read once more; 0: none. */
  readonly rest: number;
  readonly longestAge: number; // ms; a running request may finish
  readonly connectTimeout?: number; // seconds; default: 10
  /** Expected in the upstream's certificate; default: the origin's host. */
  readonly serverName?: string | undefined;
  readonly isReused?: boolean;
  readonly onSurplus?: () => void;
}

/**
 * Connections to one origin, each with one request at a time. A request takes the most recently used connection that is not resting, or
 * opens another, so that surplus connections from a peak age and close.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #options: ConnectionPoolOptions;
  readonly #host: string;
  readonly #isReused: boolean;
  readonly #connect: Connect;
  readonly #connections = new Set<Connection>();
  #answered: Connection[] = []; // in this turn of the event loop
  readonly #resting: Connection[] = []; // longest first
  readonly #rested: Connection[] = []; // most recently used last
  #responses = 0;
  #isClosed = false;
  #onEmpty: (() => void) | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#options = options;
    this.#isReused = options.isReused ?? true;
    this.#host = new URL(origin).host;
    this.#connect = createConnector(origin, options.connectTimeout ?? 10, options.serverName);
  }

  /** @throws TypeError for a request that cannot be sent */
  dispatch(call: UpstreamCall, handler: CallHandler): void {
    const request = requestPieces(call, this.#host, this.#isReused);
    const connection = this.#take() ?? this.#open();
    connection.send(request, call.method !== 'HEAD', handler);
  }

  /** Resolves when all running requests are finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of [...this.#resting, ...this.#rested, ...this.#answered]) connection.destroy();
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Ends the running requests. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.destroy();
    clearTimeout(this.#restTimer);
    clearTimeout(this.#idleTimer);
  }

  onSurplus(): void {
    this.#options.onSurplus?.();
  }

  onIdle(connection: Connection): void {
    if (this.#answered.push(connection) === 1) setImmediate(() => this.#release());
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    remove(this.#resting, connection);
    remove(this.#rested, connection);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  #take(): Connection | undefined {
    const now = performance.now();
    for (let last = this.#rested.pop(); last !== undefined; last = this.#rested.pop()) {
      if (!this.#isTooOld(last, now) && !isIdleTooLong(last, now) && !last.isDestroyed) return last;
      last.destroy();
    }
    return undefined;
  }

  #open(): Connection {
    const connection = new Connection(this, this.#connect, this.#isReused);
    this.#connections.add(connection);
    return connection;
  }

  /** Runs one turn later, because an upstream that closes a connection after its response does so immediately. */
  #release(): void {
    const answered = this.#answered;
    this.#answered = [];
    const now = performance.now();
    for (const connection of answered) {
      if (connection.isDestroyed) continue;
      if (this.#isClosed || this.#isTooOld(connection, now) || isIdleTooLong(connection, now)) {
        connection.destroy();
        continue;
      }
      const isChecked = ++this.#responses <= surplusChecks.responses || this.#responses % surplusChecks.oneIn === 0;
      const rests = isChecked && this.#options.rest > 0;
      (rests ? this.#resting : this.#rested).push(connection);
      if (rests && this.#restTimer === undefined) this.#awaitRest(this.#options.rest);
      this.#idleTimer ??= setTimeout(() => this.#closeIdle(), idleTimeMs.check).unref();
    }
  }

  /**
   * Time alone does not end a rest, because a blocked event loop reads no sockets. Immediates run after the sockets were read in the same
   * turn as the timer.
   */
  #awaitRest(milliseconds: number): void {
    const check = () => {
      const before = performance.now() - this.#options.rest;
      setImmediate(() => this.#endRest(before));
    };
    this.#restTimer = setTimeout(check, milliseconds).unref();
  }

  #endRest(before: number): void {
    while (this.#resting[0] !== undefined && this.#resting[0].idleSince <= before)
      this.#rested.push(this.#resting.shift() as Connection);
    const next = this.#resting[0];
    this.#restTimer = undefined;
    if (next !== undefined) this.#awaitRest(Math.max(1, Math.ceil(next.idleSince - before)));
  }

  #closeIdle(): void {
    const now = performance.now();
    for (const connection of [...this.#resting, ...this.#rested])
      if (isIdleTooLong(connection, now)) connection.destroy();
    const isIdle = this.#resting.length + this.#rested.length > 0;
    this.#idleTimer = isIdle ? setTimeout(() => this.#closeIdle(), idleTimeMs.check).unref() : undefined;
  }

  #isTooOld({ openedAt }: Connection, now: number): boolean {
    return now - openedAt > this.#options.longestAge;
  }
}

/** Closing first avoids the race with the upstream, which closes idle connections too. */
function isIdleTooLong({ idleSince, idleSeconds }: Connection, now: number): boolean {
  const allowed =
    idleSeconds === undefined
      ? idleTimeMs.usual
      : Math.min(idleSeconds * 1000 - idleTimeMs.reserve, idleTimeMs.longest);
  return now - idleSince >= allowed;
}

function remove(connections: Connection[], connection: Connection): void {
  const index = connections.indexOf(connection);
  if (index !== -1) connections.splice(index, 1);
}
