import type { Client, Dispatcher } from 'undici';
import { undici } from './connector.ts';

/** Answers after which an upstream is trusted to send no bytes behind them; of later answers, one in 16 is checked. */
const proof = { answers: 1_000, oneIn: 16 };

export interface ConnectionPoolOptions {
  /** Ms for which a connection takes no request after an answer that is checked, until its socket was read once more; 0: none. */
  readonly rest: number;
  /** Ms after which a connection takes no further request; a running one finishes. */
  readonly longestAge: number;
  readonly client: Client.Options;
}

interface Connection {
  readonly client: Client;
  openedAt: number; // on the clock of performance.now(), as the following
  idleSince: number;
  isIdle: boolean;
  /** Takes no further request. */
  isRetired: boolean;
}

/**
 * Connections to one origin, each with one request at a time. A request takes the most recently used connection that is not
 * resting, or opens another, so that connections left over from a peak age and close.
 *
 * undici's pool looks at all of its connections for each request, the busy and resting ones first.
 */
export class ConnectionPool implements Pick<Dispatcher, 'dispatch' | 'close' | 'destroy'> {
  readonly #origin: string;
  readonly #options: ConnectionPoolOptions;
  readonly #Client = undici().Client;
  readonly #connections = new Set<Connection>();
  /** Idle connections that rest, longest first. */
  readonly #resting: Connection[] = [];
  /** Idle connections that have rested, the most recently used last. */
  readonly #rested: Connection[] = [];
  #answers = 0;
  #isClosed = false;
  #restTimer: NodeJS.Timeout | undefined;

  constructor(origin: string, options: ConnectionPoolOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const connection = this.#take() ?? this.#open();
    connection.isIdle = false;
    // A busy client reports with `drain` that it is idle again.
    if (connection.client.dispatch(options, handler)) this.#release(connection);
    return true;
  }

  /** Resolves when the running requests have finished. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#connections].map((connection) => this.#retire(connection)));
  }

  /** Ends the running requests. */
  async destroy(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#connections].map(({ client }) => client.destroy()));
  }

  #take(): Connection | undefined {
    const now = performance.now();
    for (let last = this.#rested.pop(); last !== undefined; last = this.#rested.pop()) {
      if (!this.#isTooOld(last, now)) return last;
      this.#drop(last);
    }
    return undefined;
  }

  #open(): Connection {
    const client = new this.#Client(this.#origin, this.#options.client);
    const now = performance.now();
    const connection: Connection = { client, openedAt: now, idleSince: now, isIdle: false, isRetired: false };
    this.#connections.add(connection);
    client.on('connect', () => {
      connection.openedAt = performance.now();
    });
    client.on('drain', () => this.#release(connection));
    client.on('disconnect', () => {
      if (connection.isIdle) this.#drop(connection);
    });
    client.on('connectionError', () => this.#drop(connection));
    return connection;
  }

  #release(connection: Connection): void {
    if (connection.isIdle || connection.isRetired) return;
    const now = performance.now();
    if (this.#isClosed || this.#isTooOld(connection, now)) return this.#drop(connection);
    connection.isIdle = true;
    connection.idleSince = now;
    const isChecked = ++this.#answers <= proof.answers || this.#answers % proof.oneIn === 0;
    const rests = isChecked && this.#options.rest > 0;
    (rests ? this.#resting : this.#rested).push(connection);
    if (rests && this.#restTimer === undefined) this.#awaitRest(this.#options.rest);
  }

  /**
   * Time alone does not end a rest, because a blocked event loop reads no sockets. Immediates run after the sockets were read in
   * the turn of the timer.
   */
  #awaitRest(milliseconds: number): void {
    const check = () => {
      const before = performance.now() - this.#options.rest;
      setImmediate(() => this.#endRest(before));
    };
    this.#restTimer = setTimeout(check, milliseconds).unref();
  }

  /** @param before connections that became idle before this time have rested */
  #endRest(before: number): void {
    while (this.#resting[0] !== undefined && this.#resting[0].idleSince <= before)
      this.#rested.push(this.#resting.shift() as Connection);
    const next = this.#resting[0];
    this.#restTimer = undefined;
    if (next !== undefined) this.#awaitRest(Math.max(1, Math.ceil(next.idleSince - before)));
  }

  #isTooOld({ openedAt }: Connection, now: number): boolean {
    return now - openedAt > this.#options.longestAge;
  }

  #drop(connection: Connection): void {
    // A client that is destroyed already has nothing to close.
    this.#retire(connection).catch(() => undefined);
  }

  async #retire(connection: Connection): Promise<void> {
    connection.isRetired = true;
    if (connection.isIdle) for (const idle of [this.#resting, this.#rested]) remove(idle, connection);
    try {
      await connection.client.close();
    } finally {
      this.#connections.delete(connection);
    }
  }
}

function remove(connections: Connection[], connection: Connection): void {
  const index = connections.indexOf(connection);
  if (index !== -1) connections.splice(index, 1);
}
