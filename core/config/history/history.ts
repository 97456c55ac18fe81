import { createHmac } from 'node:crypto';
import type { Database } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import type { GatewayDocument } from '../file/document.ts';
import type { ConfigurationRollback, ServedConfiguration } from './entities.ts';
import { findLiterals, maskLiterals, type SecretSchemas } from './literals.ts';

const maxConfigurations = 500;
/** Tries in case another instance takes a number first. */
const numberTries = 5;

/** The channel of the database on which a change of the rollback, or of the variant, is announced. */
export const rollbackChannel = 'configuration_rollback';

/** A configuration that has served, with its number. */
export interface Served {
  readonly id: number;
  readonly servedAt: Date;
  /** `file`, the name of a variant, or who took a change back. */
  readonly broughtBy: string;
  readonly digest: string;
  readonly text: string;
}

/** A change of gateway.yaml that is taken back. */
export interface Rollback {
  /** Of the file in whose place a configuration serves. */
  readonly fileDigest: string;
  /** That configuration's number. */
  readonly configurationId: number;
  readonly operator: string;
  readonly note: string | undefined;
  readonly createdAt: Date;
  /** Number of the variant that serves everybody, where no change is taken back: the file is behind. */
  readonly variant?: number | undefined;
}

/** What a second configuration that serves some of the accounts is called, by its number. */
export const variantName = (number: number) => `canary ${number}`;

/** True for `broughtBy` of a configuration that was one. */
export function isVariant(broughtBy: string): boolean {
  return /^canary \d+$/.test(broughtBy);
}

/** Why nothing is taken back, or released, in words for the operator. Nothing has changed. */
export class RollbackRefused extends Error {
  override readonly name = 'RollbackRefused';
}

/** The configurations that have served on a database, on any instance: numbered, masked, in their order. */
export class ConfigHistory {
  readonly #database: Pick<Database, 'query'>;
  readonly #schemas: SecretSchemas;

  constructor(database: Pick<Database, 'query'>, schemas: SecretSchemas) {
    this.#database = database;
    this.#schemas = schemas;
  }

  /** By which secrets and files are digested. */
  secret(): Promise<string> {
    return readSecret(this.#database, 'configuration');
  }

  /** A file as it is kept, and its digest. */
  async describe(document: GatewayDocument): Promise<{ readonly text: string; readonly digest: string }> {
    const secret = await this.secret();
    const text = maskLiterals(document.source, findLiterals(document, this.#schemas), secret);
    return { text, digest: createHmac('sha256', secret).update(text).digest('hex') };
  }

  /** Notes that a configuration serves, unless it is the last one on record. */
  async record({ text, digest }: { text: string; digest: string }, broughtBy: string): Promise<void> {
    for (let attempt = 0; attempt < numberTries; attempt++) {
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

  /** The newest first. @param before only those with a smaller number */
  async list(limit: number, before?: number): Promise<Served[]> {
    const rows = await this.#database.query<ServedRow>(
      `select id, text, digest, brought_by, ${epochs('served_at')} from served_configuration
       where ?::integer is null or id < ? order by id desc limit ?`,
      [before ?? null, before ?? null, limit],
    );
    return rows.map(toServed);
  }

  async find(id: number): Promise<Served | undefined> {
    const [found] = await this.#database.query<ServedRow>(
      `select id, text, digest, brought_by, ${epochs('served_at')} from served_configuration where id = ?`,
      [id],
    );
    return found && toServed(found);
  }

  /**
   * The configuration before the one that serves; of a change that is taken back, the one before that it went back to.
   *
   * @param fileDigest of gateway.yaml, which may have changed since a change was taken back
   */
  async previous(fileDigest: string): Promise<Served | undefined> {
    const rollback = await this.rollback(fileDigest);
    const [now] = rollback === undefined ? await this.list(1) : [await this.find(rollback.configurationId)];
    if (now === undefined) return undefined;
    const [found] = await this.#database.query<ServedRow>(
      `select id, text, digest, brought_by, ${epochs('served_at')} from served_configuration
       where id < ? and digest <> ? order by id desc limit 1`,
      [now.id, now.digest],
    );
    return found && toServed(found);
  }

  /** The last change that was taken back, of any file or of this one; undefined when none was, or it was released. */
  async rollback(fileDigest?: string): Promise<Rollback | undefined> {
    const [row] = await this.#database.query<RollbackRow>(
      `select file_digest, configuration_id, operator, note, canary, ${epochs('created_at')} from configuration_rollback
       where file_digest = coalesce(?, file_digest)`,
      [fileDigest ?? null],
    );
    if (row === undefined) return undefined;
    return {
      fileDigest: row.file_digest,
      configurationId: row.configuration_id,
      operator: row.operator,
      note: row.note ?? undefined,
      createdAt: new Date(row.created_at),
      variant: row.canary ?? undefined,
    };
  }

  /** Takes a file back in favour of a configuration, on all instances whose file it is, now and after a restart. */
  async takeBack({ fileDigest, configurationId, operator, note }: Omit<Rollback, 'createdAt'>): Promise<void> {
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

  /** Lets all instances read gateway.yaml again. */
  async announce(): Promise<void> {
    await this.#database.query(`select pg_notify('${rollbackChannel}', '')`);
  }

  /** Serves the file again. @returns false when nothing was taken back */
  async release(): Promise<boolean> {
    const rows = await this.#database.query(
      `with changed as (delete from configuration_rollback returning id)
       select pg_notify('${rollbackChannel}', id::text) from changed`,
    );
    return rows.length > 0;
  }
}

type ServedRow = Row<typeof ServedConfiguration, 'id' | 'text' | 'digest' | 'brought_by' | 'served_at'>;
type RollbackRow = Row<
  typeof ConfigurationRollback,
  'file_digest' | 'configuration_id' | 'operator' | 'note' | 'created_at' | 'canary'
>;

function toServed({ id, text, digest, brought_by: broughtBy, served_at: servedAt }: ServedRow): Served {
  return { id, text, digest, broughtBy, servedAt: new Date(servedAt) };
}
