import { createHmac } from 'node:crypto';
import type { Queries } from '#core/platform/database/database.ts';
import { type RecordOf, type Row, selectColumns, toRecord } from '#core/platform/database/rows.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import type { GatewayDocument } from '../file/document.ts';
import type { ConfigurationRollback, ServedConfiguration } from './entities.ts';
import { findLiterals, maskLiterals, type SecretSchemas } from './literals.ts';

const maxConfigurations = 500;
const maxNumberAttempts = 5; // another instance may take the number first

/** PostgreSQL announces changes to the rollback and to the variant on this channel. */
export const rollbackChannel = 'configuration_rollback';

const servedColumns = ['id', 'text', 'digest', 'brought_by', 'served_at'] as const;
type ServedRow = Row<typeof ServedConfiguration, (typeof servedColumns)[number]>;
const selectServed = `select ${selectColumns(servedColumns)} from served_configuration`;

/** A configuration that has been in effect, with its number. */
export type StoredConfiguration = RecordOf<ServedRow>;

const rollbackColumns = ['file_digest', 'configuration_id', 'operator', 'note', 'created_at'] as const;
type RollbackRow = Row<typeof ConfigurationRollback, (typeof rollbackColumns)[number]> & {
  readonly variant: number | null;
};

/**
 * A rollback of gateway.yaml: the digest of that file, and the number of the configuration that overrides it. If that is a variant's
 * number, the variant was promoted to all accounts, and the file has not been updated yet.
 */
export type Rollback = RecordOf<RollbackRow>;

export const createVariantName = (number: number) => `canary ${number}`;

export function isVariantName(broughtBy: string): boolean {
  return /^canary \d+$/.test(broughtBy);
}

/** Thrown if starting or ending a rollback is refused, with a message for the operator. The configuration in effect does not change. */
export class RollbackRefused extends Error {
  override readonly name = 'RollbackRefused';
}

/** Lists configurations with a number below `before`, newest first. */
export async function listConfigurations(
  database: Queries,
  limit: number,
  before: number | undefined,
): Promise<StoredConfiguration[]> {
  const rows = await database.query<ServedRow>(
    `${selectServed} where ?::integer is null or id < ? order by id desc limit ?`,
    [before ?? null, before ?? null, limit],
  );
  return rows.map(toRecord);
}

/** The configurations that have been in effect on any of the instances that share a database, numbered and without secrets. */
export class ConfigHistory {
  readonly #database: Queries;
  readonly #schemas: SecretSchemas;

  constructor(database: Queries, schemas: SecretSchemas) {
    this.#database = database;
    this.#schemas = schemas;
  }

  /** Reads the key for digests of secrets and files. */
  readSecret(): Promise<string> {
    return readSecret(this.#database, 'configuration');
  }

  /** Creates the stored form of a file, in which secrets are masked, and its digest. */
  async createStoredForm(document: GatewayDocument): Promise<{ readonly text: string; readonly digest: string }> {
    const secret = await this.readSecret();
    const text = maskLiterals(document.source, findLiterals(document, this.#schemas), secret);
    return { text, digest: createHmac('sha256', secret).update(text).digest('hex') };
  }

  /** Records that a configuration is in effect, unless the newest stored one is the same. */
  async record({ text, digest }: { text: string; digest: string }, broughtBy: string): Promise<void> {
    for (let attempt = 0; attempt < maxNumberAttempts; attempt++) {
      const rows = await this.#database.query<{ is_known: boolean }>(
        `with last as (select id, digest from served_configuration order by id desc limit 1),
           added as (
             insert into served_configuration (id, text, digest, brought_by)
             select coalesce((select id from last), 0) + 1, ?, ?, ?
             where (select digest from last) is distinct from ? on conflict (id) do nothing returning id
           )
         select true as is_known where exists (select from added) or exists (select from last where digest = ?)`,
        [text, digest, broughtBy, digest, digest],
      );
      if (rows.length > 0) break;
    }
    await this.#database.query(
      'delete from served_configuration where id <= (select max(id) from served_configuration) - ?',
      [maxConfigurations],
    );
  }

  /** Lists configurations with a number below `before`, newest first. */
  list(limit: number, before?: number): Promise<StoredConfiguration[]> {
    return listConfigurations(this.#database, limit, before);
  }

  async find(id: number): Promise<StoredConfiguration | undefined> {
    const [row] = await this.#database.query<ServedRow>(`${selectServed} where id = ?`, [id]);
    return row && toRecord(row);
  }

  /**
   * Finds the configuration before the current one or, after a rollback, before the rollback target.
   *
   * @param fileDigest digest of gateway.yaml, which may have changed since the rollback
   */
  async findPrevious(fileDigest: string): Promise<StoredConfiguration | undefined> {
    const rollback = await this.findRollback(fileDigest);
    const [current] = rollback === undefined ? await this.list(1) : [await this.find(rollback.configurationId)];
    if (current === undefined) return undefined;
    const [row] = await this.#database.query<ServedRow>(
      `${selectServed} where id < ? and digest <> ? order by id desc limit 1`,
      [current.id, current.digest],
    );
    return row && toRecord(row);
  }

  /** @param fileDigest digest of the file that is overridden; default: any file */
  async findRollback(fileDigest?: string): Promise<Rollback | undefined> {
    const [row] = await this.#database.query<RollbackRow>(
      `select ${selectColumns(rollbackColumns)}, canary as variant from configuration_rollback where file_digest = coalesce(?, file_digest)`,
      [fileDigest ?? null],
    );
    return row && toRecord(row);
  }

  /** Rolls a file back to a stored configuration, on all instances that have this file, now and after restarts. */
  async rollBack({
    fileDigest,
    configurationId,
    operator,
    note,
  }: Omit<Rollback, 'createdAt' | 'variant'>): Promise<void> {
    await this.#database.query(
      `with changed as (
         insert into configuration_rollback (id, file_digest, configuration_id, operator, note) values (1, ?, ?, ?, ?)
         on conflict (id) do update set file_digest = excluded.file_digest, note = excluded.note,
           configuration_id = excluded.configuration_id, operator = excluded.operator, canary = null, created_at = clock_timestamp()
         returning id
       )
       select pg_notify('${rollbackChannel}', id::text) from changed`,
      [fileDigest, configurationId, operator, note ?? null],
    );
  }

  /** Makes all instances read gateway.yaml again. */
  async notifyInstances(): Promise<void> {
    await this.#database.query(`select pg_notify('${rollbackChannel}', '')`);
  }

  /** @returns false if no rollback was in effect */
  async release(): Promise<boolean> {
    const rows = await this.#database.query(
      `with changed as (delete from configuration_rollback returning id)
       select pg_notify('${rollbackChannel}', id::text) from changed`,
    );
    return rows.length > 0;
  }
}
