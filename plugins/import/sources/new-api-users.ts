import type { UserTables } from '../source.ts';

const enabledStatus = 1;
const customerRole = 1;

/** Source: QuantumNous/new-api, model/user.go, model/subscription.go. */
export const newApiUserTables: UserTables = {
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
