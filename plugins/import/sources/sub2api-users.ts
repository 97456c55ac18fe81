import type { ImportDraft } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { readUsers, type UserTables } from '../users/read-users.ts';

/** Source: Wei-Shaw/sub2api, backend/ent/schema/user.go, user_subscription.go. */
const tables: UserTables = {
  nameColumns: ['username'],
  balanceColumn: 'balance',
  endColumn: 'expires_at',
  explainExclusion(user) {
    if ((user.readText('status') ?? 'active') !== 'active') return 'is disabled';
    if (user.readText('deleted_at') !== undefined) return 'is deleted';
    return user.readText('role') === 'admin' ? 'is an administrator: add the address to `operators`' : undefined;
  },
};

export function readSub2apiUsers(value: unknown, draft: ImportDraft, now: number): ImportedUser[] {
  return readUsers(value, tables, draft, now);
}
