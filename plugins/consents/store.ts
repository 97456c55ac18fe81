import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import { type Queries, type Transactions, uuid } from '#core/platform/database/database.ts';
import { epochs, type RecordOf, type Row, selectColumns, toRecord } from '#core/platform/database/rows.ts';
import type { Language } from '#core/web/texts/texts.ts';
import type { ConsentRow } from './entities.ts';
import type { Consent, ConsentWords } from './section.ts';

const maxWithdrawnConsents = 20; // kept as proof, per account and name

const columns = ['id', 'name', 'label', 'digest', 'language', 'place', 'given_at', 'withdrawn_at'] as const;

type ConsentColumns = Row<typeof ConsentRow, (typeof columns)[number]> & { readonly label: ConsentWords };

export type GivenConsent = RecordOf<ConsentColumns>;

interface ShownContext {
  readonly language: Language;
  readonly place: GivenConsent['place'];
}

/** Records consents, except those already in force. The caller must hold the account's lock. */
export async function recordConsents(
  transaction: EntityManager,
  accountId: string,
  consents: readonly Consent[],
  { language, place }: ShownContext,
): Promise<void> {
  await transaction.execute(
    `insert into consent (id, account_id, name, label, digest, language, place)
     select id, ?::uuid, name, label, digest, ?::text, ?::text
     from jsonb_to_recordset(?::jsonb) as c(id uuid, name text, label jsonb, digest text)
     on conflict (account_id, digest) where withdrawn_at is null do nothing`,
    [accountId, language, place, JSON.stringify(consents.map((consent) => ({ id: randomUUIDv7(), ...consent })))],
  );
}

/** Skips deleted accounts, whose personal data must not be stored again. */
export async function recordConsent(
  database: Transactions,
  accountId: string,
  consent: Consent,
  context: ShownContext,
): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    const { deletedAt } = await lockAccount(transaction, accountId);
    if (deletedAt === undefined) await recordConsents(transaction, accountId, [consent], context);
  });
}

export async function withdrawConsents(database: Transactions, accountId: string, name: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    await transaction.execute(
      'update consent set withdrawn_at = clock_timestamp() where account_id = ? and name = ? and withdrawn_at is null',
      [accountId, name],
    );
    // The oldest are removed, because an account can give and withdraw consent any number of times.
    await transaction.execute(
      `delete from consent where id in (
         select id from consent where account_id = ? and name = ? and withdrawn_at is not null order by id desc offset ?
       )`,
      [accountId, name, maxWithdrawnConsents],
    );
  });
}

export async function readConsentsInForce(database: Queries, accountId: string): Promise<GivenConsent[]> {
  return readConsents(database, 'account_id = ? and withdrawn_at is null', [accountId]);
}

export async function readAllConsents(database: Queries, accountId: string, limit: number): Promise<GivenConsent[]> {
  return readConsents(database, 'account_id = ?', [accountId], limit);
}

async function readConsents(database: Queries, where: string, parameters: readonly unknown[], limit = 1_000) {
  const rows = await database.query<ConsentColumns>(
    `select ${selectColumns(columns)} from consent where ${where} order by id desc limit ?`,
    [...parameters, limit],
  );
  return rows.map((row) => toRecord(row) as GivenConsent);
}

type ReachableRow = Pick<ConsentColumns, 'id' | 'name' | 'place' | 'given_at'> & {
  readonly account_id: string;
  readonly email: string;
  readonly language: string;
};

export type ReachableAccount = RecordOf<ReachableRow>;

/**
 * Lists accounts that have consented to the current words and may be contacted, newest consent first. They have an address, are not
 * blocked, paused or deleted, and have not unsubscribed since.
 */
export async function listReachableAccounts(
  database: Queries,
  consents: readonly Consent[],
  after: string | undefined,
  limit: number,
): Promise<ReachableAccount[]> {
  const startId = after !== undefined && uuid.test(after) ? after : null;
  const rows = await database.query<ReachableRow>(
    `select c.id, c.account_id, c.name, c.place, a.email, coalesce(a.language, c.language) as language, ${epochs('c.given_at')}
     from consent c join account a on a.id = c.account_id
     where c.digest in (select jsonb_array_elements_text(?::jsonb)) and c.withdrawn_at is null
       and (?::uuid is null or c.id < ?::uuid)
       and a.email is not null and a.deleted_at is null and a.blocked_at is null
       and (a.unsubscribed_at is null or a.unsubscribed_at < c.given_at)
     order by c.id desc limit ?`,
    [JSON.stringify(consents.map(({ digest }) => digest)), startId, startId, limit],
  );
  return rows.map((row) => toRecord(row) as ReachableAccount);
}
