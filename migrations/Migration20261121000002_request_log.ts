import { Migration } from '@mikro-orm/migrations';

/** One row per request, in partitions by day (UTC) that the `log` plugin creates and drops. */
export class Migration20261121000002_request_log extends Migration {
  static readonly since = '0.1.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE request_log (
        id text NOT NULL,
        started_at timestamptz NOT NULL,
        instance text NOT NULL,
        account_id uuid, -- without a foreign key: a record outlives what it tells of
        key_hint text,
        method text NOT NULL,
        path text NOT NULL,
        endpoint text NOT NULL,
        format text,
        model text,
        route text,
        is_stream boolean,
        outcome text NOT NULL CHECK (outcome IN ('answered', 'refused', 'failed', 'aborted', 'interrupted')),
        status smallint,
        error_code text,
        error_message text,
        cache text CHECK (cache IN ('hit', 'miss')),
        duration_ms bigint,
        first_byte_ms bigint,
        first_content_ms bigint,
        bytes_in bigint,
        bytes_out bigint,
        input_tokens integer,
        output_tokens integer,
        cache_read_tokens integer,
        cache_write_tokens integer,
        reasoning_tokens integer,
        attempts jsonb,
        remote_address text,
        user_agent text,
        PRIMARY KEY (started_at, id)
      ) PARTITION BY RANGE (started_at)`);
    this.addSql('CREATE INDEX request_log_account ON request_log (account_id, started_at DESC)');
  }

  override down(): void {
    this.addSql('DROP TABLE request_log');
  }
}
