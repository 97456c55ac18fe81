import type { ImportDraft } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { readUsers, type UserTables } from '../users/read-users.ts';

/** Source: Wei-Shaw/sub2api, backend/ent/schema/user.go, user_subscription.go. */
const tables: UserTables = {
  names: ['username'],
  balance: 'balance',
  end: 'expires_at',
  whyNot(user) {
    if ((user.text('status') ?? 'active') !== 'active') return 'is disabled';
    if (user.text('deleted_at') !== undefined) return 'is deleted';
    return user.text('role') === 'admin' ? 'is an administrator: add the address to `operators`' : undefined;
  },
};

export function readSub2apiUsers(value: unknown, draft: ImportDraft, now: number): ImportedUser[] {
  return readUsers(value, tables, draft, now);
}
