import { randomBytes } from 'node:crypto';
import { type ConfigHistory, rollbackChannel, createVariantName } from '#core/config/history/history.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, selectColumns, toRecord } from '#core/platform/database/rows.ts';
import type { CanaryCounts, CanaryOutcome, CanaryVerdict } from './canary-counts.ts';
import type { ConfigurationCanary } from './entities.ts';

/** The most canaries that are stored; starting another deletes the oldest. */
const maxCanaries = 100;
/** How long an instance's claim to evaluate a canary lasts. */
const leaseSeconds = 60;
/** An overdue canary that has not been evaluated for this long counts as abandoned. */
const abandonedSeconds = 600;

/** A configuration that serves a share of the accounts. */
export interface Canary {
  /** Sequential number from 1, as shown to operators. */
  readonly id: number;
  /** Digest of the configuration that serves the other accounts. */
  readonly baseDigest: string;
  readonly text: string;
  readonly digest: string;
  /** Salt of the hash that decides which accounts it serves. */
  readonly salt: string;
  /** Share of the accounts, from 0 to 1. */
  readonly share: number;
  readonly operator: string;
  readonly note: string | undefined;
  readonly startedAt: Date;
  readonly until: Date;
  readonly looks: number;
  /** How many looks there have been since its time was over. */
  readonly lateLooks: number;
  /** The next look is due at this many requests of all accounts. */
  readonly nextLook: number;
  /** Undefined before the first comparison. */
  readonly counts: CanaryCounts | undefined;
  readonly verdict: CanaryVerdict | undefined;
  /** Undefined while it runs. */
  readonly end: { readonly at: Date; readonly outcome: CanaryOutcome; readonly reason: string } | undefined;
}

interface CanaryStart extends Pick<Canary, 'baseDigest' | 'text' | 'digest' | 'salt' | 'share' | 'operator' | 'note'> {
  readonly seconds: number;
  readonly firstLook: number;
}

/** Access to the canaries in the database. Only one runs at a time, across all instances. */
export class Canaries {
  readonly #database: Queries;
  readonly #history: Pick<ConfigHistory, 'record'>;

  constructor(database: Queries, history: Pick<ConfigHistory, 'record'>) {
    this.#database = database;
    this.#history = history;
  }

  /** Creates a random salt, so that each canary serves other accounts. */
  createSalt(): string {
    return randomBytes(16).toString('base64url');
  }

  /**
   * Stores a new canary and notifies all instances.
   *
   * @returns undefined if one is already running
   */
  async start({ seconds, firstLook, ...canary }: CanaryStart): Promise<Canary | undefined> {
    const { baseDigest, text, digest, salt, share, operator, note } = canary;
    const [row] = await this.#database.query<CanaryRow>(
      `with started as (
         insert into configuration_canary (id, base_digest, text, digest, salt, share, operator, note, until, next_look)
         select coalesce((select max(id) from configuration_canary), 0) + 1, ?, ?, ?, ?, ?::float8, ?, ?,
           clock_timestamp() + make_interval(secs => ?), ?::integer on conflict do nothing returning *
       ), removed as (delete from configuration_canary where id <= (select id from started) - ?)
       select ${columns}, pg_notify('${rollbackChannel}', id::text) from started`,
      [baseDigest, text, digest, salt, share, operator, note ?? null, seconds, firstLook, maxCanaries],
    );
    return row && toCanary(row);
  }

  /** Finds the running canary, which is always the newest. */
  async findRunning(): Promise<Canary | undefined> {
    const [newest] = await this.list(1);
    return newest?.end === undefined ? newest : undefined;
  }

  /** Lists canaries, newest first. */
  async list(limit: number): Promise<Canary[]> {
    const rows = await this.#database.query<CanaryRow>(
      `select ${columns} from configuration_canary order by id desc limit ?`,
      [limit],
    );
    return rows.map(toCanary);
  }

  /**
   * Ends the running canary; the base configuration then serves all accounts.
   *
   * @returns false if it had already ended
   */
  end(id: number, outcome: Exclude<CanaryOutcome, 'full'>, reason: string): Promise<boolean> {
    return this.#end(id, outcome, reason, 'true');
  }

  /**
   * Ends an overdue canary that no instance has evaluated for a long time.
   *
   * @returns false if this canary is not abandoned
   */
  endAbandoned(id: number, reason: string): Promise<boolean> {
    const isAbandoned = `until <= clock_timestamp() and judge_after < clock_timestamp() - interval '${abandonedSeconds} s'`;
    return this.#end(id, 'ended', reason, isAbandoned);
  }

  async #end(id: number, outcome: CanaryOutcome, reason: string, condition: string): Promise<boolean> {
    const rows = await this.#database.query(
      `with ended as (
         update configuration_canary set ended_at = clock_timestamp(), outcome = ?, reason = ?
         where id = ? and ended_at is null and ${condition} returning id
       )
       select pg_notify('${rollbackChannel}', id::text) from ended`,
      [outcome, reason, id],
    );
    return rows.length > 0;
  }

  /**
   * Lets the canary's configuration serve all accounts, in place of the file if that differs.
   *
   * @param fileDigest digest of the file
   * @returns false if the canary had already ended
   */
  async makeFull({ id, text, digest }: Canary, fileDigest: string, reason: string): Promise<boolean> {
    await this.#history.record({ text, digest }, createVariantName(id));
    const rows = await this.#database.query(
      `with ended as (
         update configuration_canary set ended_at = clock_timestamp(), outcome = 'full', reason = ?
         where id = ? and ended_at is null returning id, digest, operator
       ), overridden as (
         insert into configuration_rollback (id, file_digest, configuration_id, operator, note, canary)
         select 1, ?, (select max(s.id) from served_configuration s where s.digest = ended.digest), operator, ?, id
         from ended where digest <> ?
         on conflict (id) do update set file_digest = excluded.file_digest, configuration_id = excluded.configuration_id,
           operator = excluded.operator, note = excluded.note, canary = excluded.canary, created_at = clock_timestamp()
       ), released as (delete from configuration_rollback where exists (select from ended where digest = ?))
       select pg_notify('${rollbackChannel}', id::text) from ended`,
      [reason, id, fileDigest, reason, fileDigest, digest === fileDigest ? digest : ''],
    );
    return rows.length > 0;
  }

  /**
   * Claims the next evaluation, unless another instance has.
   *
   * @returns the current canary, and whether its time is over
   */
  async claimEvaluation(id: number): Promise<{ readonly canary: Canary; readonly isOver: boolean } | undefined> {
    const [row] = await this.#database.query<CanaryRow & { is_over: boolean }>(
      `update configuration_canary set judge_after = clock_timestamp() + make_interval(secs => ?)
       where id = ? and ended_at is null and judge_after <= clock_timestamp()
       returning ${columns}, until <= clock_timestamp() as is_over`,
      [leaseSeconds, id],
    );
    return row && { canary: toCanary(row), isOver: row.is_over };
  }

  /**
   * Stores the result of an evaluation.
   *
   * @param waitSeconds time until the next evaluation
   */
  async recordEvaluation(
    id: number,
    {
      counts,
      verdict,
      looks,
      lateLooks,
      nextLook,
    }: Pick<Canary, 'looks' | 'lateLooks' | 'nextLook'> & {
      readonly counts: CanaryCounts;
      readonly verdict: CanaryVerdict;
    },
    waitSeconds: number,
  ): Promise<void> {
    await this.#database.query(
      `update configuration_canary set counts = ?::jsonb, verdict = ?, looks = ?, late_looks = ?, next_look = ?,
         judge_after = clock_timestamp() + make_interval(secs => ?) where id = ?`,
      [JSON.stringify(counts), verdict, looks, lateLooks, nextLook, waitSeconds, id],
    );
  }
}

const storedColumns = [
  'id',
  'base_digest',
  'text',
  'digest',
  'salt',
  'share',
  'operator',
  'note',
  'looks',
  'late_looks',
  'next_look',
  'counts',
  'verdict',
  'outcome',
  'reason',
  'started_at',
  'ended_at',
] as const;
const columns = `${selectColumns(storedColumns)}, ${epochs('until')}`;
type CanaryRow = Row<typeof ConfigurationCanary, (typeof storedColumns)[number] | 'until'>;

function toCanary({ until, share, ...row }: CanaryRow): Canary {
  const { endedAt: at, outcome, reason = '', ...canary } = toRecord(row);
  return {
    ...canary,
    share: Number(share),
    until: new Date(until),
    end: at === undefined || outcome === undefined ? undefined : { at, outcome, reason },
  };
}
