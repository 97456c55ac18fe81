import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import { type Database, uuid } from '#core/platform/database/database.ts';
import { epochs, type RecordOf, type Row, selected, toRecord } from '#core/platform/database/rows.ts';
import type { Language } from '#core/web/texts/texts.ts';
import type { ConsentRow } from './entities.ts';
import type { Consent, ConsentWords } from './section.ts';

type Queries = Pick<Database, 'query'>;

/** Withdrawn consents that are kept as a proof, for each name of an account. */
const mostWithdrawn = 20;

const columns = ['id', 'name', 'label', 'digest', 'language', 'place', 'given_at', 'withdrawn_at'] as const;

type Columns = Row<typeof ConsentRow, (typeof columns)[number]> & { readonly label: ConsentWords };

/** A consent as it was given. */
export type GivenConsent = RecordOf<Columns>;

/** How the words were shown. */
interface Shown {
  readonly language: Language;
  readonly place: GivenConsent['place'];
}

/** Records consents; those that are in force stay as they were given. The caller has locked the account. */
export async function give(
  transaction: EntityManager,
  accountId: string,
  consents: readonly Consent[],
  { language, place }: Shown,
): Promise<void> {
  await transaction.execute(
    `insert into consent (id, account_id, name, label, digest, language, place)
     select id, ?::uuid, name, label, digest, ?::text, ?::text
     from jsonb_to_recordset(?::jsonb) as c(id uuid, name text, label jsonb, digest text)
     on conflict (account_id, digest) where withdrawn_at is null do nothing`,
    [accountId, language, place, JSON.stringify(consents.map((one) => ({ id: randomUUIDv7(), ...one })))],
  );
}

/** The same on its own. Does nothing for an account that is deleted: its words would outlast the removal of what is personal. */
export async function giveNow(
  database: Pick<Database, 'fork'>,
  accountId: string,
  consent: Consent,
  shown: Shown,
): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    const { deletedAt } = await lockAccount(transaction, accountId);
    if (deletedAt === undefined) await give(transaction, accountId, [consent], shown);
  });
}

/** Withdraws what an account has given under a name, whatever the words were. */
export async function withdraw(database: Pick<Database, 'fork'>, accountId: string, name: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    await transaction.execute(
      'update consent set withdrawn_at = clock_timestamp() where account_id = ? and name = ? and withdrawn_at is null',
      [accountId, name],
    );
    // An account can give and withdraw as often as it likes.
    await transaction.execute(
      `delete from consent where id in (
         select id from consent where account_id = ? and name = ? and withdrawn_at is not null order by id desc offset ?
       )`,
      [accountId, name, mostWithdrawn],
    );
  });
}

/** Consents of an account that are in force, the newest first. */
export async function readInForce(database: Queries, accountId: string): Promise<GivenConsent[]> {
  return readConsents(database, 'account_id = ? and withdrawn_at is null', [accountId]);
}

/** All consents of an account, withdrawn ones too, the newest first. */
export async function readGiven(database: Queries, accountId: string, limit: number): Promise<GivenConsent[]> {
  return readConsents(database, 'account_id = ?', [accountId], limit);
}

async function readConsents(database: Queries, where: string, parameters: readonly unknown[], limit = 1_000) {
  const rows = await database.query<Columns>(
    `select ${selected(columns)} from consent where ${where} order by id desc limit ?`,
    [...parameters, limit],
  );
  return rows.map((row) => toRecord(row) as GivenConsent);
}

type ReachableRow = Pick<Columns, 'id' | 'name' | 'place' | 'given_at'> & {
  readonly account_id: string;
  readonly email: string;
  readonly language: string;
};

/** An account that can be written to with its consent. */
export type Reachable = RecordOf<ReachableRow>;

/**
 * Accounts that have consented to the words of now and can be written to: those with an address that are neither blocked, paused nor
 * deleted, and have not unsubscribed from mails since. The newest consent first.
 *
 * @param after id of the last consent of the page before
 */
export async function listReachable(
  database: Queries,
  consents: readonly Consent[],
  after: string | undefined,
  limit: number,
): Promise<Reachable[]> {
  const start = after !== undefined && uuid.test(after) ? after : null;
  const rows = await database.query<ReachableRow>(
    `select c.id, c.account_id, c.name, c.place, a.email, coalesce(a.language, c.language) as language, ${epochs('c.given_at')}
     from consent c join account a on a.id = c.account_id
     where c.digest in (select jsonb_array_elements_text(?::jsonb)) and c.withdrawn_at is null
       and (?::uuid is null or c.id < ?::uuid)
       and a.email is not null and a.deleted_at is null and a.blocked_at is null
       and (a.unsubscribed_at is null or a.unsubscribed_at < c.given_at)
     order by c.id desc limit ?`,
    [JSON.stringify(consents.map(({ digest }) => digest)), start, start, limit],
  );
  return rows.map((row) => toRecord(row) as Reachable);
}
