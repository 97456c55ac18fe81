/** What the commands do, loaded when one of them runs: MikroORM would slow all other commands down. */
export { exportAccount } from '#core/business/accounts/account-export.ts';
export { findAccountByHandle } from '#core/business/accounts/account-list.ts';
export { readAccountDetails } from '#core/web/resources/account-details.ts';
