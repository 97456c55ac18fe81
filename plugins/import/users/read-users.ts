import type { ImportDraft } from '../draft.ts';
import { ImportedObject, rowsOf } from '../members.ts';
import type { ImportedUser } from '../imported-user.ts';

/** Schema of a gateway's users and subscriptions. */
export interface UserTables {
  /** Reason for not importing a user; undefined if it is imported. */
  whyNot(user: ImportedObject): string | undefined;
  /** Columns with the user's name; the first non-empty one is used. */
  readonly names: readonly string[];
  /** Column with the user's balance. */
  readonly balance: string;
  /** Column with the end of a subscription. */
  readonly end: string;
}

const unmappedBalance = 'money is not turned into days: add days yourself';

/**
 * Reads users and the end of their access, which is the latest end of their active, unexpired subscriptions.
 *
 * @param value rows of users, which may contain a subscription's columns or a list of subscriptions; or `{ users, user_subscriptions }`
 * @param now epoch ms
 * @throws ImportError
 */
export function readUsers(value: unknown, tables: UserTables, draft: ImportDraft, now: number): ImportedUser[] {
  const ends = readEnds(subscriptionsOf(value), tables, draft, now);
  const users = new Map<string, ImportedUser>();
  for (const [index, row] of rowsOf(value, 'users').entries()) {
    const user = new ImportedObject(row, `users[${index}]`, draft);
    const id = user.text('id');
    if (id === undefined) {
      draft.note(user.path, 'has no id');
      continue;
    }
    const own = [...(ends.get(id) ?? []), ...readOwnEnds(user, tables, draft, now)];
    const reason = tables.whyNot(user);
    if (reason !== undefined) {
      draft.note(user.path, reason);
      continue;
    }
    if ((user.number(tables.balance) ?? 0) > 0) draft.note(user.at(tables.balance), unmappedBalance);
    const email = emailOf(user);
    const name = tables.names.map((column) => user.text(column)).find((text) => text !== undefined);
    const known = users.get(id)?.endsAt;
    const all = known === undefined ? own : [...own, known];
    users.set(id, {
      id,
      name:
        (name ?? email?.split('@')[0] ?? id)
          .replaceAll(/\p{Cc}+/gu, ' ')
          .trim()
          .slice(0, 100) || id,
      ...(email !== undefined && { email }),
      ...(all.length > 0 && { endsAt: Math.max(...all) }),
    });
  }
  return [...users.values()];
}

function emailOf(user: ImportedObject): string | undefined {
  const email = user.text('email') ?? '';
  return email.length <= 320 && /^[^@\s\p{Cc}<>,;"]+@[^@\s\p{Cc}<>,;"]+$/u.test(email) ? email : undefined;
}

function subscriptionsOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const names = ['user_subscriptions', 'subscriptions'];
  const found = names.find((name) => Object.hasOwn(value, name));
  return found === undefined ? [] : rowsOf((value as Record<string, unknown>)[found], found);
}

/** Reads the ends of active subscriptions by user id. */
function readEnds(
  rows: readonly unknown[],
  tables: UserTables,
  draft: ImportDraft,
  now: number,
): ReadonlyMap<string, readonly number[]> {
  const ends = new Map<string, number[]>();
  for (const [index, row] of rows.entries()) {
    const subscription = new ImportedObject(row, `user_subscriptions[${index}]`, draft);
    const user = subscription.text('user_id') ?? '';
    const end = readEnd(subscription, tables, draft, now);
    if (end !== undefined) ends.set(user, [...(ends.get(user) ?? []), end]);
  }
  return ends;
}

/** Reads the ends in the user's row, which may have joined subscription columns or a list of subscriptions. */
function readOwnEnds(user: ImportedObject, tables: UserTables, draft: ImportDraft, now: number): number[] {
  const joined = user.names.includes(tables.end) ? readTime(user, tables.end, draft) : undefined;
  const nested = user
    .list('subscriptions')
    .map((row, index) =>
      readEnd(new ImportedObject(row, `${user.at('subscriptions')}[${index}]`, draft), tables, draft, now),
    );
  return [joined, ...nested].filter((end): end is number => end !== undefined && end > now);
}

function readEnd(
  subscription: ImportedObject,
  tables: UserTables,
  draft: ImportDraft,
  now: number,
): number | undefined {
  const status = subscription.text('status') ?? 'active';
  const end = readTime(subscription, tables.end, draft);
  return status === 'active' && end !== undefined && end > now ? end : undefined;
}

/** Parses seconds since the epoch, or a time in a database's notation; returns epoch ms. */
function readTime(row: ImportedObject, column: string, draft: ImportDraft): number | undefined {
  const written = row.text(column);
  if (written === undefined || written === '0') return undefined;
  if (/^\d{9,11}$/.test(written)) return Number(written) * 1_000;
  // PostgreSQL writes "2026-12-01 00:00:00+00"; times without a zone are UTC, as in database containers.
  const iso = written.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  const time = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`);
  if (!Number.isNaN(time)) return time;
  draft.note(row.at(column), 'is neither a time nor seconds since 1970');
  return undefined;
}
