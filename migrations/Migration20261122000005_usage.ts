import { Migration } from '@mikro-orm/migrations';

/** Selects the columns of deltas, both for the new rows of a statement and for rows older than the trigger. */
export const deltasOf = (source: string) => `
  INSERT INTO usage_delta (hour, account_id, model, route, first_content_bucket, answered, refused, failed, aborted,
    interrupted, failovers, cached, input_tokens, output_tokens)
  SELECT date_bin('1 hour', started_at, timestamptz 'epoch'), account_id, coalesce(alias_of, model), route,
    -- Bucket n ends at 10 ms times 1.1 to the power of n; the last one begins at an hour.
    CASE WHEN first_content_ms IS NOT NULL
      THEN least(greatest(ceil(ln(greatest(first_content_ms, 1) / 10.0::float8) / ln(1.1::float8)), 0), 135)::smallint END,
    count(*) FILTER (WHERE outcome = 'answered'), count(*) FILTER (WHERE outcome = 'refused'),
    count(*) FILTER (WHERE outcome = 'failed'), count(*) FILTER (WHERE outcome = 'aborted'),
    count(*) FILTER (WHERE outcome = 'interrupted'),
    count(*) FILTER (WHERE has_failover), count(*) FILTER (WHERE cache = 'hit'),
    coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0)
  FROM ${source} GROUP BY 1, 2, 3, 4, 5`;

export const attemptDeltasOf = (source: string) => `
  INSERT INTO route_usage_delta (hour, route, outcome, fault, attempts, last_at, last_error)
  SELECT date_bin('1 hour', started_at, timestamptz 'epoch'), attempt.route, attempt.outcome, attempt.fault, count(*),
    max(started_at + coalesce(started_ms + attempt.duration_ms, 0) * interval '1 millisecond'),
    (array_agg(attempt.error ORDER BY started_at DESC, started_ms DESC))[1]
  FROM ${source}, jsonb_to_recordset(CASE WHEN jsonb_typeof(attempts) = 'array' THEN attempts END)
    AS attempt (route text, outcome text, fault text, started_ms bigint, duration_ms bigint, error text)
  WHERE attempt.route IS NOT NULL
  GROUP BY 1, 2, 3, 4`;

const keys = `
  hour timestamptz NOT NULL, /* its start */
  model text, /* public name of the model in the catalog, whichever name the client used */
  route text /* that served */`;
const counts = `
  answered integer NOT NULL,
  refused integer NOT NULL,
  failed integer NOT NULL,
  aborted integer NOT NULL,
  interrupted integer NOT NULL,
  failovers integer NOT NULL,
  cached integer NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL`;
const histogram = 'first_content_buckets smallint[], first_content_counts integer[]'; // non-empty buckets of the time to first content

/**
 * Requests counted by hour. A trigger appends the counts of a statement's new rows as deltas in the same transaction. Rows that already
 * exist are not counted again, and nothing is updated, so instances do not wait for each other. A job adds the deltas to the hours; readers
 * add up both. See docs/decisions/0022-usage-is-rolled-up-from-deltas.md.
 */
export class Migration20261122000005_usage extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      ALTER TABLE request_log ADD COLUMN alias_of text -- public name of the model, where the client used another one`);
    this.createTables();
    for (const [name, statement] of [
      ['append_usage', deltasOf('fresh')],
      ['append_route_usage', attemptDeltasOf('fresh')],
    ] as const) {
      this.addSql(`
        CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          ${statement};
          RETURN NULL;
        END $$`);
      this.addSql(`
        CREATE TRIGGER request_log_${name} AFTER INSERT ON request_log
          REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`);
    }
    // Creating the triggers locks out writers until this transaction ends, so no row is missed.
    this.addSql(deltasOf('request_log'));
    this.addSql(attemptDeltasOf('request_log'));
  }

  createTables(): void {
    this.addSql(`CREATE TABLE usage_hour (${keys}, account_id uuid, ${counts}, ${histogram})`);
    // The account comes first, so that its hours are one range. Requests without account, model or route are counted too.
    this.addSql('CREATE UNIQUE INDEX usage_hour_key ON usage_hour (account_id, hour, model, route) NULLS NOT DISTINCT');
    this.addSql('CREATE INDEX usage_hour_hour ON usage_hour (hour)'); // for all accounts, and to find expired hours
    this.addSql(`CREATE TABLE usage_total (${keys}, ${counts}, ${histogram})`); // the same, summed over all accounts
    this.addSql('CREATE UNIQUE INDEX usage_total_key ON usage_total (hour, model, route) NULLS NOT DISTINCT');
    this.addSql(`CREATE TABLE usage_delta (${keys}, account_id uuid, ${counts}, first_content_bucket smallint)`);
    this.addSql(`
      CREATE TABLE route_usage_hour (
        hour timestamptz NOT NULL,
        route text NOT NULL,
        outcome text, -- of an attempt: served, failed, aborted
        fault text,
        attempts integer NOT NULL,
        last_at timestamptz NOT NULL,
        last_error text
      )`);
    this.addSql(
      'CREATE UNIQUE INDEX route_usage_hour_key ON route_usage_hour (hour, route, outcome, fault) NULLS NOT DISTINCT',
    );
    this.addSql('CREATE TABLE route_usage_delta (LIKE route_usage_hour)');
    for (const table of ['usage_hour', 'usage_total', 'route_usage_hour'])
      // Leaves room to update the rows of the current hour in place.
      this.addSql(`ALTER TABLE ${table} SET (fillfactor = 80)`);
    for (const table of ['usage_delta', 'route_usage_delta'])
      // Small and constantly changing: early vacuums let new rows reuse the space of deltas already added to the hours.
      this.addSql(`ALTER TABLE ${table} SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`);
  }

  override down(): void {
    this.addSql('DROP TRIGGER request_log_append_usage ON request_log');
    this.addSql('DROP TRIGGER request_log_append_route_usage ON request_log');
    this.addSql('DROP FUNCTION append_usage(), append_route_usage()');
    this.addSql('DROP TABLE usage_hour, usage_total, usage_delta, route_usage_hour, route_usage_delta');
    this.addSql('ALTER TABLE request_log DROP COLUMN alias_of');
  }
}
