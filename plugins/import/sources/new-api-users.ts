import type { ImportDraft } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { readUsers, type UserTables } from '../users/read-users.ts';

const enabled = 1;
const customer = 1;

/** Source: QuantumNous/new-api, model/user.go, model/subscription.go. */
const tables: UserTables = {
  names: ['display_name', 'username'],
  balance: 'quota',
  end: 'end_time',
  whyNot(user) {
    if ((user.number('status') ?? enabled) !== enabled) return 'is disabled';
    if ((user.text('deleted_at') ?? user.text('DeletedAt')) !== undefined) return 'is deleted';
    return (user.number('role') ?? customer) > customer
      ? 'is an administrator: add the address to `operators`'
      : undefined;
  },
};

export function readNewApiUsers(value: unknown, draft: ImportDraft, now: number): ImportedUser[] {
  return readUsers(value, tables, draft, now);
}
