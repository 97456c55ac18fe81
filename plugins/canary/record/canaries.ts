import { randomBytes } from 'node:crypto';
import { type ConfigHistory, rollbackChannel, createVariantName } from '#core/config/history/history.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type Row, selectColumns, toRecord } from '#core/platform/database/rows.ts';
import type { CanaryCounts, CanaryOutcome, CanaryVerdict } from './canary-counts.ts';
import type { ConfigurationCanary } from './entities.ts';

const maxCanaries = 100; // starting another deletes the oldest
const evaluationLeaseSeconds = 60;
const abandonedSeconds = 600; // after which an overdue canary without an evaluation counts as abandoned

/** A configuration that serves a share of the accounts. */
export interface Canary {
  readonly id: number; // sequential number from 1, as shown to operators
  readonly baseDigest: string; // of the configuration that serves the other accounts
  readonly text: string;
  readonly digest: string;
  readonly salt: string; // of the hash that decides which accounts it serves
  readonly share: number; // of the accounts, from 0 to 1
  readonly operator: string;
  readonly note: string | undefined;
  readonly startedAt: Date;
  readonly until: Date;
  readonly looks: number;
  readonly lateLooks: number; // since its time ended
  readonly nextLook: number; // due when all accounts together have sent this many requests
  readonly counts: CanaryCounts | undefined; // undefined before the first comparison
  readonly verdict: CanaryVerdict | undefined;
  readonly end: { readonly at: Date; readonly outcome: CanaryOutcome; readonly reason: string } | undefined;
}

interface CanaryStart extends Pick<Canary, 'baseDigest' | 'text' | 'digest' | 'salt' | 'share' | 'operator' | 'note'> {
  readonly seconds: number;
  readonly firstLook: number;
}

/** Only one runs at a time, across all instances. */
export class Canaries {
  readonly #database: Queries;
  readonly #history: Pick<ConfigHistory, 'record'>;

  constructor(database: Queries, history: Pick<ConfigHistory, 'record'>) {
    this.#database = database;
    this.#history = history;
  }

  /** A random salt makes each canary serve different accounts. */
  createSalt(): string {
    return randomBytes(16).toString('base64url');
  }

  /** @returns undefined if a canary is already running */
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

  /** The running canary is always the newest. */
  async findRunning(): Promise<Canary | undefined> {
    const [newest] = await this.list(1);
    return newest?.end === undefined ? newest : undefined;
  }

  async list(limit: number): Promise<Canary[]> {
    const rows = await this.#database.query<CanaryRow>(
      `select ${columns} from configuration_canary order by id desc limit ?`,
      [limit],
    );
    return rows.map(toCanary);
  }

  /** @returns false if the canary had already ended */
  end(id: number, outcome: Exclude<CanaryOutcome, 'full'>, reason: string): Promise<boolean> {
    return this.#end(id, outcome, reason, 'true');
  }

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
   * Serves the canary's configuration to all accounts, in place of the file if that differs. Returns false if the canary had already ended.
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

  /** @returns undefined if another instance has claimed it, it is not due yet, or the canary has ended */
  async claimEvaluation(id: number): Promise<{ readonly canary: Canary; readonly isOver: boolean } | undefined> {
    const [row] = await this.#database.query<CanaryRow & { is_over: boolean }>(
      `update configuration_canary set judge_after = clock_timestamp() + make_interval(secs => ?)
       where id = ? and ended_at is null and judge_after <= clock_timestamp()
       returning ${columns}, until <= clock_timestamp() as is_over`,
      [evaluationLeaseSeconds, id],
    );
    return row && { canary: toCanary(row), isOver: row.is_over };
  }

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
