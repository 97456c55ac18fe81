import type { ImportDraft } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { ImportedObject, readRows } from '../members.ts';
import type { UserTables } from '../source.ts';

const balanceReason = 'money is not turned into days: add days yourself';

/**
 * A user's access ends with the last active, unexpired subscription.
 *
 * @param value rows of users, which may contain a subscription's columns or a list of subscriptions; or `{ users, user_subscriptions }`
 */
export function readUsers(value: unknown, tables: UserTables, draft: ImportDraft, now: number): ImportedUser[] {
  const ends = readEnds(readSubscriptions(value), tables, draft, now);
  const users = new Map<string, ImportedUser>();
  for (const [index, row] of readRows(value, 'users').entries()) {
    const user = new ImportedObject(row, `users[${index}]`, draft);
    const id = user.readText('id');
    if (id === undefined) {
      draft.note(user.path, 'has no id');
      continue;
    }
    const userEnds = [...(ends.get(id) ?? []), ...readOwnEnds(user, tables, draft, now)];
    const reason = tables.explainExclusion(user);
    if (reason !== undefined) {
      draft.note(user.path, reason);
      continue;
    }
    if ((user.readNumber(tables.balanceColumn) ?? 0) > 0) draft.note(user.pathOf(tables.balanceColumn), balanceReason);
    const email = readEmail(user);
    const name = tables.nameColumns.map((column) => user.readText(column)).find((text) => text !== undefined);
    const earlierEnd = users.get(id)?.endsAt;
    const allEnds = earlierEnd === undefined ? userEnds : [...userEnds, earlierEnd];
    users.set(id, {
      id,
      name:
        (name ?? email?.split('@')[0] ?? id)
          .replaceAll(/\p{Cc}+/gu, ' ')
          .trim()
          .slice(0, 100) || id,
      ...(email !== undefined && { email }),
      ...(allEnds.length > 0 && { endsAt: Math.max(...allEnds) }),
    });
  }
  return [...users.values()];
}

function readEmail(user: ImportedObject): string | undefined {
  const email = user.readText('email') ?? '';
  return email.length <= 320 && /^[^@\s\p{Cc}<>,;"]+@[^@\s\p{Cc}<>,;"]+$/u.test(email) ? email : undefined;
}

function readSubscriptions(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const names = ['user_subscriptions', 'subscriptions'];
  const tableName = names.find((name) => Object.hasOwn(value, name));
  return tableName === undefined ? [] : readRows((value as Record<string, unknown>)[tableName], tableName);
}

function readEnds(
  rows: readonly unknown[],
  tables: UserTables,
  draft: ImportDraft,
  now: number,
): ReadonlyMap<string, readonly number[]> {
  const ends = new Map<string, number[]>();
  for (const [index, row] of rows.entries()) {
    const subscription = new ImportedObject(row, `user_subscriptions[${index}]`, draft);
    const user = subscription.readText('user_id') ?? '';
    const end = readEnd(subscription, tables, draft, now);
    if (end !== undefined) ends.set(user, [...(ends.get(user) ?? []), end]);
  }
  return ends;
}

function readOwnEnds(user: ImportedObject, tables: UserTables, draft: ImportDraft, now: number): number[] {
  // The user's own row may have joined subscription columns or a list of subscriptions.
  const joinedEnd = user.names.includes(tables.endColumn) ? readTime(user, tables.endColumn, draft) : undefined;
  const nestedEnds = user
    .readList('subscriptions')
    .map((row, index) =>
      readEnd(new ImportedObject(row, `${user.pathOf('subscriptions')}[${index}]`, draft), tables, draft, now),
    );
  return [joinedEnd, ...nestedEnds].filter((end): end is number => end !== undefined && end > now);
}

function readEnd(
  subscription: ImportedObject,
  tables: UserTables,
  draft: ImportDraft,
  now: number,
): number | undefined {
  const status = subscription.readText('status') ?? 'active';
  const end = readTime(subscription, tables.endColumn, draft);
  return status === 'active' && end !== undefined && end > now ? end : undefined;
}

/** Parses seconds since the epoch, or a time as databases write it, to epoch ms. */
function readTime(row: ImportedObject, column: string, draft: ImportDraft): number | undefined {
  const cell = row.readText(column);
  if (cell === undefined || cell === '0') return undefined;
  if (/^\d{9,11}$/.test(cell)) return Number(cell) * 1_000;
  // PostgreSQL writes "2026-12-01 00:00:00+00". Times without a zone are UTC, as in database containers.
  const iso = cell.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  const time = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`);
  if (!Number.isNaN(time)) return time;
  draft.note(row.pathOf(column), 'is neither a time nor seconds since 1970');
  return undefined;
}
