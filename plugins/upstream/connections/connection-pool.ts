import { type CallHandler, Connection, type ConnectionOwner } from './connection.ts';
import { type Connect, createConnector } from './connector.ts';
import { encodeRequest, type UpstreamCall } from './request-head.ts';

/** The first 1,000 responses are checked for surplus bytes. After that, the upstream is trusted and one response in 16 is checked. */
const surplusChecks = { responses: 1_000, oneIn: 16 };

/**
 * Idle connections are closed after `default`. If the upstream announces a timeout, they are closed `reserve` before it, but after `max` at
 * the latest.
 */
const idleTimeoutsMs = { default: 10_000, max: 60_000, reserve: 2_000, checkInterval: 500 };

interface ConnectionPoolOptions {
  /** How long a connection stays unused after a checked response, so that its socket is read once more; 0 to disable. */
  readonly quarantineMs: number;
  readonly maxAgeMs: number; // a request in flight may finish
  readonly connectTimeoutSeconds?: number; // default: 10
  readonly serverName?: string | undefined; // expected in the certificate; default: the host of the origin
  readonly isPersistent?: boolean;
  readonly onSurplus?: () => void;
}

/**
 * Connections to one origin, each with one request at a time. A request takes the most recently used connection that is available, or opens
 * a new one, so connections left over from a peak stay unused and are closed.
 *
 * After a checked response, a connection is quarantined first, because bytes that arrive in this time belong to no request.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #options: ConnectionPoolOptions;
  readonly #host: string;
  readonly #isPersistent: boolean;
  readonly #connect: Connect;
  readonly #connections = new Set<Connection>();
  #justFinished: Connection[] = []; // in this event loop turn
  readonly #quarantined: Connection[] = []; // oldest first
  readonly #available: Connection[] = []; // most recently used last
  #responseCount = 0;
  #isClosed = false;
  #onEmpty: (() => void) | undefined;
  #quarantineTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#options = options;
    this.#isPersistent = options.isPersistent ?? true;
    this.#host = new URL(origin).host;
    this.#connect = createConnector(origin, options.connectTimeoutSeconds ?? 10, options.serverName);
  }

  /** @throws TypeError for a request that cannot be sent */
  dispatch(call: UpstreamCall, handler: CallHandler): void {
    const request = encodeRequest(call, this.#host, this.#isPersistent);
    const connection = this.#takeAvailable() ?? this.#openConnection();
    connection.send(request, call.method !== 'HEAD', handler);
  }

  /** Resolves when all requests in flight have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of [...this.#quarantined, ...this.#available, ...this.#justFinished]) connection.destroy();
    if (this.#connections.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Closes all connections, which ends the requests in flight. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#connections) connection.destroy();
    clearTimeout(this.#quarantineTimer);
    clearTimeout(this.#idleTimer);
  }

  onSurplus(): void {
    this.#options.onSurplus?.();
  }

  onIdle(connection: Connection): void {
    // Waits one turn, because an upstream that closes a connection after its response does so right away.
    if (this.#justFinished.push(connection) === 1) setImmediate(() => this.#releaseFinished());
  }

  onClosed(connection: Connection): void {
    this.#connections.delete(connection);
    remove(this.#quarantined, connection);
    remove(this.#available, connection);
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  #takeAvailable(): Connection | undefined {
    const now = performance.now();
    for (let candidate = this.#available.pop(); candidate !== undefined; candidate = this.#available.pop()) {
      if (!this.#isTooOld(candidate, now) && !isIdleTooLong(candidate, now) && !candidate.isDestroyed) return candidate;
      candidate.destroy();
    }
    return undefined;
  }

  #openConnection(): Connection {
    const connection = new Connection(this, this.#connect, this.#isPersistent);
    this.#connections.add(connection);
    return connection;
  }

  #releaseFinished(): void {
    const finished = this.#justFinished;
    this.#justFinished = [];
    const now = performance.now();
    for (const connection of finished) {
      if (connection.isDestroyed) continue;
      if (this.#isClosed || this.#isTooOld(connection, now) || isIdleTooLong(connection, now)) {
        connection.destroy();
        continue;
      }
      const isChecked =
        ++this.#responseCount <= surplusChecks.responses || this.#responseCount % surplusChecks.oneIn === 0;
      const needsQuarantine = isChecked && this.#options.quarantineMs > 0;
      (needsQuarantine ? this.#quarantined : this.#available).push(connection);
      if (needsQuarantine && this.#quarantineTimer === undefined)
        this.#scheduleQuarantineEnd(this.#options.quarantineMs);
      this.#idleTimer ??= setTimeout(() => this.#closeIdle(), idleTimeoutsMs.checkInterval).unref();
    }
  }

  #scheduleQuarantineEnd(milliseconds: number): void {
    const check = () => {
      const idleBefore = performance.now() - this.#options.quarantineMs;
      // A blocked event loop reads no sockets, but an immediate runs after they were read in the turn of the timer.
      setImmediate(() => this.#endQuarantine(idleBefore));
    };
    this.#quarantineTimer = setTimeout(check, milliseconds).unref();
  }

  #endQuarantine(idleBefore: number): void {
    while (this.#quarantined[0] !== undefined && this.#quarantined[0].idleSince <= idleBefore)
      this.#available.push(this.#quarantined.shift() as Connection);
    const next = this.#quarantined[0];
    this.#quarantineTimer = undefined;
    if (next !== undefined) this.#scheduleQuarantineEnd(Math.max(1, Math.ceil(next.idleSince - idleBefore)));
  }

  #closeIdle(): void {
    const now = performance.now();
    for (const connection of [...this.#quarantined, ...this.#available])
      if (isIdleTooLong(connection, now)) connection.destroy();
    const isIdle = this.#quarantined.length + this.#available.length > 0;
    this.#idleTimer = isIdle ? setTimeout(() => this.#closeIdle(), idleTimeoutsMs.checkInterval).unref() : undefined;
  }

  #isTooOld({ openedAt }: Connection, now: number): boolean {
    return now - openedAt > this.#options.maxAgeMs;
  }
}

/** Returns true if the connection must be closed before the upstream closes it, which could collide with a request. */
function isIdleTooLong({ idleSince, idleSinceWall, idleSeconds }: Connection, now: number): boolean {
  const timeoutMs =
    idleSeconds === undefined
      ? idleTimeoutsMs.default
      : Math.min(idleSeconds * 1000 - idleTimeoutsMs.reserve, idleTimeoutsMs.max);
  return Math.max(now - idleSince, Date.now() - idleSinceWall) >= timeoutMs;
}

function remove(connections: Connection[], connection: Connection): void {
  const index = connections.indexOf(connection);
  if (index !== -1) connections.splice(index, 1);
}
