import { runInBackground } from '../background.ts';
import { connectionReason, describeConnectionError } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { withDeadline } from '../timing/deadline.ts';
import { Throttle } from '../timing/throttle.ts';
import type { Database, RecordReads, ReplicaState } from './database.ts';
import { epoch } from './rows.ts';

const intervalMs = 5_000;
/** Ms for a measurement; the short deadline is for the primary's part, and for closing. */
const deadline = 3_000;
const shortDeadline = 1_000;
/** Maximum lag in ms; beyond it, the primary is read. */
export const mostLag = 30_000;
const maxSamples = 720; // an hour
const reminderIntervalMs = 60_000;

type Query = Database['query'];

interface ReplicaOptions {
  readonly primary: Query;
  readonly replica: Query;
  readonly close: () => Promise<void>;
  readonly log: Logger;
  readonly now?: () => number; // ms, monotonic
}

interface Sample {
  readonly lsn: bigint;
  readonly at: number;
}

interface ReplicaRow {
  readonly is_replica: boolean;
  readonly system: string;
  readonly started: string;
  readonly lsn: string;
  readonly has_records: boolean;
  /** Commit time of the last replayed transaction, in epoch ms of the primary's clock; null if none. */
  readonly replayed_at: number | null;
}

interface PrimaryRow extends Pick<ReplicaRow, 'system' | 'started' | 'lsn'> {
  readonly time: number;
}

/** WAL position: written, or on a replica replayed. Converted to a number by subtraction, because the driver lacks the type. */
const position = `(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::text AS lsn`;
const identity = `(SELECT system_identifier::text FROM pg_control_system()) AS system, pg_postmaster_start_time()::text AS started`;
const askPrimary = `SELECT ${identity}, ${position}, ${epoch('clock_timestamp()')} AS time`;
const askReplica = `SELECT ${identity}, ${position}, pg_is_in_recovery() AS is_replica, to_regclass('request_log') IS NOT NULL AS has_records,
  ${epoch('pg_last_xact_replay_timestamp()')} AS replayed_at`;

/**
 * A streaming replica for lists, exports and counts of requests. The primary is read while the replica is down or more than 30 s behind,
 * and for statements that fail on it.
 *
 * Its lag is the lower of two upper bounds: the time since the primary has been ahead of what is replayed now, as measured by this process,
 * and the time since the last replayed transaction was committed, which alone would grow while nothing is written.
 */
export class Replica implements RecordReads, AsyncDisposable {
  readonly #options: ReplicaOptions;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  readonly #reminder = new Throttle(reminderIntervalMs);
  readonly #timer: NodeJS.Timeout;
  readonly #firstMeasurement: Promise<void>;
  /** Rejects if a measurement gets no response: pending statements are then sent to the primary. */
  #silence = silence();
  #isClosed = false;
  #state: ReplicaState = { lag: undefined, fault: undefined, since: Date.now() };

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#firstMeasurement = this.measure();
    this.#timer = setInterval(
      () => runInBackground(options.log, 'measuring the lag of the replica', () => this.measure()),
      intervalMs,
    ).unref();
  }

  get replica(): ReplicaState {
    return this.#state;
  }

  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const { primary, replica, log } = this.#options;
    await this.#firstMeasurement;
    if (this.#state.fault !== undefined) return primary<Row>(sql, parameters);
    try {
      return await Promise.race([replica<Row>(sql, parameters), this.#silence.promise]);
    } catch (error) {
      // A statement that times out on the replica would time out on the primary too.
      if (isTimeout(error)) throw error;
      if (this.#reminder.pass())
        log.warn(
          `a statement failed on the replica of DATABASE_READ_URL, and is sent to the primary: ${reasonOf(error)}`,
        );
      return primary<Row>(sql, parameters);
    }
  }

  /** Measures the lag. Never rejects. */
  async measure(): Promise<void> {
    try {
      await withDeadline(this.#measure(), deadline, 'no response in time');
    } catch (error) {
      this.#silence.reject(error);
      this.#silence = silence();
      this.#set(
        undefined,
        connectionReason('connection.reason.replica_unreadable', { error: describeConnectionError(error) }),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await withDeadline(this.#options.close(), shortDeadline, 'late').catch(() => undefined);
  }

  async #measure(): Promise<void> {
    const { primary, replica } = this.#options;
    // While the primary is unreachable, the lag is unknown.
    const [written] = await withDeadline(primary<PrimaryRow>(askPrimary), shortDeadline, 'late').catch(() => []);
    const at = this.#now();
    const [replayed] = await replica<ReplicaRow>(askReplica);
    if (replayed === undefined) throw new Error('no answer');
    if (written === undefined) return;
    const isSame = written.started === replayed.started;
    if (written.system !== replayed.system || !(replayed.is_replica || isSame))
      return this.#set(undefined, connectionReason('connection.reason.replica_other'));
    if (!replayed.has_records) return this.#set(undefined, connectionReason('connection.reason.replica_no_table'));
    const ago = replayed.replayed_at === null ? Infinity : Math.max(0, written.time - replayed.replayed_at);
    const lag = Math.min(ago, this.#measuredLag({ lsn: BigInt(written.lsn), at }, BigInt(replayed.lsn)));
    if (lag === Infinity) return this.#set(undefined, connectionReason('connection.reason.replica_unknown'));
    this.#set(
      lag,
      lag > mostLag
        ? connectionReason('connection.reason.replica_behind', { seconds: Math.round(lag / 1000) })
        : undefined,
    );
  }

  /** Ms since the primary's position was at most the position replayed now; Infinity without a measurement from then. */
  #measuredLag(written: Sample, replayed: bigint): number {
    const samples = this.#samples;
    samples.push(written);
    if (samples.length > maxSamples) samples.shift();
    const reached = samples.findLastIndex(({ lsn }) => lsn <= replayed);
    if (reached === -1) return Infinity;
    samples.splice(0, reached);
    return written.at - (samples[0] ?? written).at;
  }

  #set(lag: number | undefined, fault: string | undefined): void {
    if (this.#isClosed) return;
    const { log } = this.#options;
    const before = this.#state;
    const hasChanged = (before.fault === undefined) !== (fault === undefined);
    this.#state = { lag, fault, since: hasChanged ? Date.now() : before.since };
    if (hasChanged && fault !== undefined)
      log.warn(
        `the replica of DATABASE_READ_URL is not read: ${fault}; requests are listed and counted on the primary`,
      );
    else if (hasChanged) log.info('the replica of DATABASE_READ_URL is read again');
  }
}

function silence(): PromiseWithResolvers<never> {
  const resolvers = Promise.withResolvers<never>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}

/** True if the server ended the statement (`statement_timeout`), or the driver did. */
function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error && (('code' in error && error.code === '57014') || error.message === 'Query read timeout')
  );
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === '42501') return 'its user lacks a right; daypass doctor names the table';
  return /^\w{5}$/.test(code) ? `SQLSTATE ${code}` : describeConnectionError(error);
}
