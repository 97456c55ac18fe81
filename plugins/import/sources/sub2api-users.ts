import type { UserTables } from '../source.ts';

/** Source: Wei-Shaw/sub2api, backend/ent/schema/user.go, user_subscription.go. */
export const sub2apiUserTables: UserTables = {
  nameColumns: ['username'],
  balanceColumn: 'balance',
  endColumn: 'expires_at',
  explainExclusion(user) {
    if ((user.readText('status') ?? 'active') !== 'active') return 'is disabled';
    if (user.readText('deleted_at') !== undefined) return 'is deleted';
    return user.readText('role') === 'admin' ? 'is an administrator: add the address to `operators`' : undefined;
  },
};
