import type { ImportDraft } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { readUsers, type UserTables } from '../users/read-users.ts';

const enabledStatus = 1;
const customerRole = 1;

/** Source: QuantumNous/new-api, model/user.go, model/subscription.go. */
const tables: UserTables = {
  nameColumns: ['display_name', 'username'],
  balanceColumn: 'quota',
  endColumn: 'end_time',
  explainExclusion(user) {
    if ((user.readNumber('status') ?? enabledStatus) !== enabledStatus) return 'is disabled';
    if ((user.readText('deleted_at') ?? user.readText('DeletedAt')) !== undefined) return 'is deleted';
    return (user.readNumber('role') ?? customerRole) > customerRole
      ? 'is an administrator: add the address to `operators`'
      : undefined;
  },
};

export function readNewApiUsers(value: unknown, draft: ImportDraft, now: number): ImportedUser[] {
  return readUsers(value, tables, draft, now);
}
