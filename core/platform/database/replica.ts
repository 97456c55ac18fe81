import { runInBackground } from '../background.ts';
import { connectionReason, describeConnectionError } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { withDeadline } from '../timing/deadline.ts';
import { Throttle } from '../timing/throttle.ts';
import type { Database, RecordReads, ReplicaState } from './database.ts';
import { epoch } from './rows.ts';

const intervalMs = 5_000;
const measurementTimeoutMs = 3_000;
const shortTimeoutMs = 1_000;
export const maxLagMs = 30_000; // if the lag is higher, the primary is read
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
  readonly measuredAt: number; // ms, monotonic
}

interface ReplicaRow {
  readonly is_replica: boolean;
  readonly system: string;
  readonly started: string;
  readonly lsn: string;
  readonly has_records: boolean;
  readonly replayed_at: number | null; // commit time of the last replayed transaction by the primary's clock; null before the first
}

interface PrimaryRow extends Pick<ReplicaRow, 'system' | 'started' | 'lsn'> {
  readonly time: number;
}

/** The subtraction converts the position to a number. */
const positionColumn = `(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0')::text AS lsn`;
const identityColumns = `(SELECT system_identifier::text FROM pg_control_system()) AS system, pg_postmaster_start_time()::text AS started`;
const selectPrimaryState = `SELECT ${identityColumns}, ${positionColumn}, ${epoch('clock_timestamp()')} AS time`;
const selectReplicaState = `SELECT ${identityColumns}, ${positionColumn}, pg_is_in_recovery() AS is_replica, to_regclass('request_log') IS NOT NULL AS has_records,
  ${epoch('pg_last_xact_replay_timestamp()')} AS replayed_at`;

/**
 * A streaming replica for lists, exports and counts of requests. The primary is read instead while the replica is down or more than 30 s
 * behind, and for statements that fail on the replica.
 *
 * Its lag is the lower of two upper bounds. One is the time since the primary was last measured at or before the position replayed now. The
 * other is the time since the last replayed transaction was committed, which alone would grow while nothing is written.
 */
export class Replica implements RecordReads, AsyncDisposable {
  readonly #options: ReplicaOptions;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  readonly #reminder = new Throttle(reminderIntervalMs);
  readonly #timer: NodeJS.Timeout;
  readonly #firstMeasurement: Promise<void>;
  #measurementFailure = createHandledPromise(); // sends pending statements to the primary
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
      return await Promise.race([replica<Row>(sql, parameters), this.#measurementFailure.promise]);
    } catch (error) {
      // A statement that times out on the replica would time out on the primary too.
      if (isTimeout(error)) throw error;
      if (this.#reminder.tryPass())
        log.warn(
          `a statement failed on the replica of DATABASE_READ_URL, and is sent to the primary: ${describeReason(error)}`,
        );
      return primary<Row>(sql, parameters);
    }
  }

  /** Never rejects. */
  async measure(): Promise<void> {
    try {
      await withDeadline(this.#measure(), measurementTimeoutMs, 'no response in time');
    } catch (error) {
      this.#measurementFailure.reject(error);
      this.#measurementFailure = createHandledPromise();
      this.#setState(
        undefined,
        connectionReason('connection.reason.replica_unreadable', { error: describeConnectionError(error) }),
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await withDeadline(this.#options.close(), shortTimeoutMs, 'late').catch(() => undefined);
  }

  async #measure(): Promise<void> {
    const { primary, replica } = this.#options;
    // While the primary is unreachable, the lag is unknown.
    const [primaryState] = await withDeadline(primary<PrimaryRow>(selectPrimaryState), shortTimeoutMs, 'late').catch(
      () => [],
    );
    const measuredAt = this.#now();
    const [replicaState] = await replica<ReplicaRow>(selectReplicaState);
    if (replicaState === undefined) throw new Error('no response');
    if (primaryState === undefined) return;
    const isSameServer = primaryState.started === replicaState.started;
    if (primaryState.system !== replicaState.system || !(replicaState.is_replica || isSameServer))
      return this.#setState(undefined, connectionReason('connection.reason.replica_other'));
    if (!replicaState.has_records)
      return this.#setState(undefined, connectionReason('connection.reason.replica_no_table'));
    const sinceCommitMs =
      replicaState.replayed_at === null ? Infinity : Math.max(0, primaryState.time - replicaState.replayed_at);
    const lag = Math.min(
      sinceCommitMs,
      this.#sampleLagMs({ lsn: BigInt(primaryState.lsn), measuredAt }, BigInt(replicaState.lsn)),
    );
    if (lag === Infinity) return this.#setState(undefined, connectionReason('connection.reason.replica_unknown'));
    this.#setState(
      lag,
      lag > maxLagMs
        ? connectionReason('connection.reason.replica_behind', { seconds: Math.round(lag / 1000) })
        : undefined,
    );
  }

  /** Returns the ms since the primary was at or before the position replayed now; Infinity if no sample is that old. */
  #sampleLagMs(sample: Sample, replayedLsn: bigint): number {
    const samples = this.#samples;
    samples.push(sample);
    if (samples.length > maxSamples) samples.shift();
    const lastReached = samples.findLastIndex(({ lsn }) => lsn <= replayedLsn);
    if (lastReached === -1) return Infinity;
    samples.splice(0, lastReached);
    return sample.measuredAt - (samples[0] ?? sample).measuredAt;
  }

  #setState(lag: number | undefined, fault: string | undefined): void {
    if (this.#isClosed) return;
    const { log } = this.#options;
    const previous = this.#state;
    const hasChanged = (previous.fault === undefined) !== (fault === undefined);
    this.#state = { lag, fault, since: hasChanged ? Date.now() : previous.since };
    if (hasChanged && fault !== undefined)
      log.warn(
        `the replica of DATABASE_READ_URL is not used: ${fault}; requests are listed and counted on the primary`,
      );
    else if (hasChanged) log.info('the replica of DATABASE_READ_URL is used again');
  }
}

function createHandledPromise(): PromiseWithResolvers<never> {
  const resolvers = Promise.withResolvers<never>();
  resolvers.promise.catch(() => undefined);
  return resolvers;
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isEndedByServer = 'code' in error && error.code === '57014'; // query_canceled, by statement_timeout
  return isEndedByServer || error.message === 'Query read timeout';
}

function describeReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === '42501') return 'its user lacks a privilege; daypass doctor names the table';
  return /^\w{5}$/.test(code) ? `SQLSTATE ${code}` : describeConnectionError(error);
}
