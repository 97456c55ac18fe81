import { Migration } from '@mikro-orm/migrations';

/**
 * `account.request_count` counts every request on record, as all pages do. It left out refusals and requests that are no model
 * calls. Usage has all of the last 400 days; of older requests, those that had been counted stay counted.
 */
export class Migration20261126000011_count_all_requests extends Migration {
  static readonly since = '0.2.0';

  override up(): void {
    this.addSql(`
      UPDATE account SET request_count = greatest(request_count, counted.requests)
      FROM (
        SELECT account_id, sum(answered + refused + failed + aborted + interrupted) AS requests FROM (
          SELECT account_id, answered, refused, failed, aborted, interrupted FROM usage_account
          UNION ALL SELECT account_id, answered, refused, failed, aborted, interrupted FROM usage_delta
        ) AS parts WHERE account_id IS NOT NULL GROUP BY account_id
      ) AS counted WHERE account.id = counted.account_id`);
  }

  /** What was counted before is not known. */
  override down(): void {}
}
