import { Migration } from '@mikro-orm/migrations';

const counts = [
  'answered',
  'refused',
  'failed',
  'aborted',
  'interrupted',
  'failovers',
  'cached',
  'input_tokens',
  'output_tokens',
];

/** The indexes of rare requests include status and model, so that combining two filters reads no other requests. */
const rare = [
  ['request_log_failovers', 'has_failover'],
  ['request_log_hits', `cache = 'hit'`],
  ['request_log_status', 'status <> 200'],
  ['request_log_bad', `outcome IN ('refused', 'failed', 'interrupted')`],
] as const;

/** An account's usage without models and routes: a month of a busy account is 720 rows, a twentieth of the rows with them. */
export class Migration20261122000007_usage_account extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE usage_account (LIKE usage_hour);
      ALTER TABLE usage_account DROP COLUMN model, DROP COLUMN route, SET (fillfactor = 80)`);
    this.addSql(`
      INSERT INTO usage_account (account_id, hour, ${counts.join(', ')})
      SELECT account_id, hour, ${counts.map((name) => `sum(${name})`).join(', ')} FROM usage_hour GROUP BY account_id, hour`);
    this.addSql(`
      UPDATE usage_account SET first_content_buckets = buckets, first_content_counts = counts
      FROM (
        SELECT account_id, hour, array_agg(bucket ORDER BY bucket) AS buckets, array_agg(requests ORDER BY bucket) AS counts
        FROM (
          SELECT account_id, hour, bucket, sum(requests)::integer AS requests
          FROM usage_hour, unnest(first_content_buckets, first_content_counts) AS latency (bucket, requests)
          GROUP BY account_id, hour, bucket
        ) AS bucketed GROUP BY account_id, hour
      ) AS latencies
      WHERE usage_account.hour = latencies.hour AND usage_account.account_id IS NOT DISTINCT FROM latencies.account_id`);
    this.addSql('CREATE UNIQUE INDEX usage_account_key ON usage_account (account_id, hour) NULLS NOT DISTINCT');
    this.addSql('CREATE INDEX usage_account_hour ON usage_account (hour)'); // for all accounts, and to find expired hours
    for (const [name, condition] of rare) {
      this.addSql(`DROP INDEX IF EXISTS ${name}`);
      this.addSql(
        `CREATE INDEX ${name} ON request_log (account_id, started_at DESC, status, (coalesce(alias_of, model))) WHERE ${condition}`,
      );
    }
  }

  override down(): void {
    for (const [name, condition] of rare) {
      this.addSql(`DROP INDEX ${name}`);
      const status = name === 'request_log_status' ? ', status' : '';
      this.addSql(`CREATE INDEX ${name} ON request_log (account_id, started_at DESC${status}) WHERE ${condition}`);
    }
    this.addSql('DROP TABLE usage_account');
  }
}
