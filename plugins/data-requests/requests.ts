import { randomUUIDv7 } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { pauseAccount, resumeAccount } from '#core/business/accounts/blocking.ts';
import { lockAccount } from '#core/business/accounts/ledger.ts';
import { ActionRefused } from '#core/business/operator-actions/action-kind.ts';
import { recordOwnAction } from '#core/business/operator-actions/operator-actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { type RecordOf, type Row, selectColumns, toRecord } from '#core/platform/database/rows.ts';
import type { DataRequestRow } from './entities.ts';
import { dataRequestsSection } from './section.ts';

declare module '#core/gateway/events/events.ts' {
  interface EventTypes {
    /** A request was made on the page or recorded by an operator. */
    'data_request.received': { readonly requestId: string };
    /** An operator answered an account's request. */
    'data_request.answered': { readonly accountId: string; readonly requestId: string };
  }
}

const columns = [
  'id',
  'kind',
  'channel',
  'account_id',
  'person',
  'text',
  'received_at',
  'due_at',
  'answered_at',
  'outcome',
  'answer',
] as const;

type Columns = Row<typeof DataRequestRow, (typeof columns)[number]>;

export type DataRequest = RecordOf<Columns>;

type RequestKind = DataRequest['kind'];

const selectRequest = `select ${selectColumns(columns)} from data_request`;

const maxOpenRequests = 5; // each needs manual work

const maxPausesPerDay = 5; // each record is kept for years

interface NewRequest {
  readonly kind: RequestKind;
  readonly channel: DataRequest['channel'];
  readonly accountId: string | undefined;
  readonly person?: string | undefined;
  readonly text?: string | undefined;
  readonly receivedAt?: Date | undefined; // default: now
}

/**
 * Records an open request.
 *
 * @throws ActionRefused `invalid` if neither account nor person is given, or if it was received in the future
 * @throws AccountError `too_many` if the account has five open requests, or `deleted`
 */
export async function recordRequest(
  { database, section, now }: Pick<Host, 'database' | 'section' | 'now'>,
  { kind, channel, accountId, person, text, receivedAt = new Date(now()) }: NewRequest,
): Promise<string> {
  if (accountId === undefined && person === undefined)
    throw new ActionRefused('Say whose request it is: an account, or a person and how to reach them.', 'invalid');
  if (isAhead(receivedAt, now())) throw new ActionRefused('The request cannot be received in the future.', 'invalid');
  const { answer_hours: hours } = section(dataRequestsSection);
  const id = randomUUIDv7();
  const dueAt = new Date(receivedAt.getTime() + hours * 3_600_000);
  await database.fork().transactional(async (transaction) => {
    if (accountId !== undefined) await requireFewOpen(transaction, accountId);
    await transaction.execute(
      `insert into data_request (id, kind, channel, account_id, person, text, received_at, due_at) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, kind, channel, accountId ?? null, person ?? null, text ?? null, receivedAt, dueAt],
    );
    await recordEvent(transaction, 'data_request.received', { requestId: id }, `data_request.received:${id}`);
  });
  return id;
}

/** Allows for clocks that differ by up to a minute. */
export function isAhead(receivedAt: Date, now: number): boolean {
  return receivedAt.getTime() > now + 60_000;
}

/** Locks the account, so that concurrent requests are all counted. */
async function requireFewOpen(transaction: EntityManager, accountId: string): Promise<void> {
  const { deletedAt } = await lockAccount(transaction, accountId);
  // The account's personal data has been removed; the text of a new request would remain.
  if (deletedAt !== undefined)
    throw new AccountError('deleted', 'The account is deleted. Record the request for a person without an account.');
  const [counts] = await transaction.execute<{ count: number }[]>(
    'select count(*)::float8 as count from data_request where account_id = ? and answered_at is null',
    [accountId],
  );
  if ((counts?.count ?? 0) >= maxOpenRequests)
    throw new AccountError('too_many', `The account already has ${maxOpenRequests} unanswered requests.`);
}

/** Records the pause as an answered request. Throws AccountError `blocked` or `too_many`. */
export async function pauseOwnAccount(
  { database, now }: Pick<Host, 'database' | 'now'>,
  accountId: string,
): Promise<void> {
  const id = randomUUIDv7();
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    const pausedAt = new Date(now());
    await requireFewPauses(transaction, accountId, pausedAt);
    if (!(await pauseForOwner(transaction, accountId, id)))
      throw new AccountError('blocked', 'The account is already blocked, paused or deleted.');
    await transaction.execute(
      `insert into data_request (id, kind, channel, account_id, received_at, due_at, answered_at, outcome)
       values (?, 'limiting', 'page', ?, ?, ?::timestamptz + interval '1 second', ?, 'done')`,
      [id, accountId, pausedAt, pausedAt, pausedAt],
    );
    await recordOwnAction(transaction, 'account.pause', accountId);
  });
}

/** Has no effect unless the owner paused the account. */
export async function resumeOwnAccount({ database }: Pick<Host, 'database'>, accountId: string): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    await lockAccount(transaction, accountId);
    if (await resumeAccount(transaction, accountId)) await recordOwnAction(transaction, 'account.resume', accountId);
  });
}

async function requireFewPauses(transaction: EntityManager, accountId: string, at: Date): Promise<void> {
  const [pauses] = await transaction.execute<{ count: number }[]>(
    `select count(*)::float8 as count from data_request where account_id = ? and kind = 'limiting' and channel = 'page'
       and received_at > ?::timestamptz - interval '24 hours'`,
    [accountId, at],
  );
  if ((pauses?.count ?? 0) >= maxPausesPerDay)
    throw new AccountError('too_many', `The account was paused ${maxPausesPerDay} times in a day.`);
}

async function pauseForOwner(transaction: EntityManager, accountId: string, requestId: string): Promise<boolean> {
  return pauseAccount(transaction, accountId, `paused at the owner's request ${requestId}`);
}

/** @throws AccountError `blocked` if an operator blocked it */
async function ensurePaused(transaction: EntityManager, accountId: string, requestId: string): Promise<void> {
  if (await pauseForOwner(transaction, accountId, requestId)) return;
  const stopped = await transaction.execute<unknown[]>(
    'select 1 from account where id = ? and (paused_at is not null or deleted_at is not null)',
    [accountId],
  );
  if (stopped.length === 0) throw new AccountError('blocked', 'The account is blocked: its owner could not resume it.');
}

interface Answer {
  readonly outcome: 'done' | 'rejected';
  readonly answer: string; // shown to the person
}

/**
 * Answers a request. If a request of kind `limiting` is `done`, its account is paused; for all other kinds the operator does the work
 * before answering.
 *
 * @throws ActionRefused if the request is already answered; `not_found`
 * @throws AccountError `blocked`
 */
export async function answerRequest(
  { database }: Pick<Host, 'database'>,
  id: string,
  { outcome, answer }: Answer,
): Promise<void> {
  await database.fork().transactional(async (transaction) => {
    // Lock order: the account first, as in its deletion, which also changes its requests.
    const [existing] = await transaction.execute<Pick<Columns, 'account_id'>[]>(
      'select account_id from data_request where id = ?',
      [id],
    );
    if (existing === undefined) throw new ActionRefused(`Request ${id} not found.`, 'not_found');
    if (existing.account_id !== null) await lockAccount(transaction, existing.account_id);
    const [request] = await transaction.execute<Pick<Columns, 'kind' | 'account_id'>[]>(
      `update data_request set answered_at = clock_timestamp(), outcome = ?, answer = ?
       where id = ? and answered_at is null returning kind, account_id`,
      [outcome, answer, id],
    );
    if (request === undefined) throw new ActionRefused('The request has already been answered.');
    const { kind, account_id: accountId } = request;
    if (accountId === null) return;
    await recordEvent(
      transaction,
      'data_request.answered',
      { accountId, requestId: id },
      `data_request.answered:${id}`,
    );
    if (kind === 'limiting' && outcome === 'done') await ensurePaused(transaction, accountId, id);
  });
}

export async function findRequest(database: Queries, id: string): Promise<DataRequest | undefined> {
  if (!uuid.test(id)) return undefined;
  const [row] = await database.query<Columns>(`${selectRequest} where id = ?`, [id]);
  return row && toRecord(row);
}

export async function countRequests(database: Queries): Promise<{ readonly open: number; readonly answered: number }> {
  const [counts] = await database.query<{ open: number; answered: number }>(
    'select count(*)::float8 - count(answered_at)::float8 as open, count(answered_at)::float8 as answered from data_request',
  );
  return counts ?? { open: 0, answered: 0 };
}

export async function countOpen(database: Queries): Promise<number> {
  const [counts] = await database.query<{ count: number }>(
    'select count(*)::float8 as count from data_request where answered_at is null',
  );
  return counts?.count ?? 0;
}

const conditions = { open: 'd.answered_at is null', answered: 'd.answered_at is not null', all: 'true' } as const;

/**
 * Lists open requests, most urgent first, then answered requests, latest answer first. `after`, the last request of the previous page, may
 * have been answered since.
 */
export async function listRequests(
  database: Queries,
  state: 'open' | 'answered' | undefined,
  limit: number,
  after?: string,
): Promise<DataRequest[]> {
  // Descending by `answered_at`, ascending by the rest, hence the crossed aliases in the comparison.
  const answeredAt = (alias: string) => (state === 'open' ? 'null::timestamptz' : `${alias}.answered_at`);
  const rows = await database.query<Columns>(
    `${selectRequest} d where ${conditions[state ?? 'all']} and (?::uuid is null or exists (
       select from data_request c where c.id = ?::uuid and (coalesce(${answeredAt('c')}, 'infinity'::timestamptz), d.due_at, d.id)
         > (coalesce(${answeredAt('d')}, 'infinity'), c.due_at, c.id)))
     order by ${answeredAt('d')} desc nulls first, d.due_at, d.id limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toRecord);
}

export async function listAccountRequests(database: Queries, accountId: string, limit: number): Promise<DataRequest[]> {
  const rows = await database.query<Columns>(
    `${selectRequest} where account_id = ? order by data_request.received_at desc, id desc limit ?`,
    [accountId, limit],
  );
  return rows.map(toRecord);
}
