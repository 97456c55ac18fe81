import { Migration } from '@mikro-orm/migrations';

const counts = [
  'answered',
  'refused',
  'failed',
  'aborted',
  'interrupted',
  'failovers',
  'cached',
  'policy_refusals',
  'images',
];
const tokens = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'];

/** The product that a client names first, without its version. Anything else could identify a person. */
const client = `CASE WHEN user_agent IS NULL OR user_agent = '' THEN NULL
    ELSE coalesce(lower(substring(user_agent FROM '^([A-Za-z0-9][A-Za-z0-9._-]{0,39})(?:/| |$)')), 'other') END`;

/** Only model calls by accounts: anyone else could make up any number of names. */
export const clientDeltasOf = (source: string, condition = '') => `
  INSERT INTO usage_client_delta (hour, client, model, route, ${[...counts, ...tokens].join(', ')})
  SELECT date_bin('1 hour', started_at, timestamptz 'epoch'), ${client}, coalesce(alias_of, model), route,
    count(*) FILTER (WHERE outcome = 'answered'), count(*) FILTER (WHERE outcome = 'refused'),
    count(*) FILTER (WHERE outcome = 'failed'), count(*) FILTER (WHERE outcome = 'aborted'),
    count(*) FILTER (WHERE outcome = 'interrupted'),
    count(*) FILTER (WHERE has_failover), count(*) FILTER (WHERE cache = 'hit'),
    count(*) FILTER (WHERE is_policy_refusal), coalesce(sum(images), 0),
    ${tokens.map((name) => `coalesce(sum(${name}), 0)`).join(', ')}
  FROM ${source} WHERE account_id IS NOT NULL AND model IS NOT NULL ${condition} GROUP BY 1, 2, 3, 4`;

/**
 * Usage by client program, as it names itself, in separate tables. As for other usage, a trigger appends deltas and a job adds them to the
 * hours. Of earlier records, the last eight days are counted.
 */
export class Migration20261129151010_usage_of_clients extends Migration {
  static readonly since = '0.6.0';

  override up(): void {
    for (const table of ['usage_client', 'usage_client_delta'])
      this.addSql(`
        CREATE TABLE ${table} (
          hour timestamptz NOT NULL, -- its start
          client text, -- product of the user agent, in lower case
          model text,
          route text,
          ${[...counts.map((name) => `${name} integer`), ...tokens.map((name) => `${name} bigint`)].map((column) => `${column} NOT NULL`).join(', ')}
        )`);
    this.addSql('CREATE UNIQUE INDEX usage_client_key ON usage_client (hour, client, model, route) NULLS NOT DISTINCT');
    this.addSql('ALTER TABLE usage_client SET (fillfactor = 80)');
    this.addSql(
      'ALTER TABLE usage_client_delta SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)',
    );
    this.addSql(`
      CREATE FUNCTION append_client_usage() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        ${clientDeltasOf('fresh')};
        RETURN NULL;
      END $$`);
    this.addSql(`
      CREATE TRIGGER request_log_append_client_usage AFTER INSERT ON request_log
        REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION append_client_usage()`);
    // Creating the trigger locks out writers until this transaction ends, so no row is missed.
    this.addSql(clientDeltasOf('request_log', `AND started_at >= now() - interval '8 days'`));
  }

  override down(): void {
    this.addSql('DROP TRIGGER request_log_append_client_usage ON request_log');
    this.addSql('DROP FUNCTION append_client_usage()');
    this.addSql('DROP TABLE usage_client, usage_client_delta');
  }
}
