import { Migration } from '@mikro-orm/migrations';

export class Migration20261126000090_probes extends Migration {
  static readonly since = '0.3.0';

  override up(): void {
    this.addSql(`
      CREATE TABLE probes_result (
        id uuid PRIMARY KEY,
        route text NOT NULL,
        upstream text NOT NULL,
        check_name text NOT NULL,
        started_at timestamptz NOT NULL,
        state text NOT NULL,
        reason text,
        detail text,
        tokens integer NOT NULL,
        first_content_ms integer,
        tokens_per_second real,
        score real,
        samples jsonb,
        is_baseline boolean NOT NULL DEFAULT false,
        CONSTRAINT probes_result_check_name_check CHECK (check_name IN ('answers', 'streams', 'usage', 'tool', 'two_tools', 'schema',
          'image', 'reasoning', 'max_tokens', 'stop', 'count_tokens', 'context', 'fingerprint')),
        CONSTRAINT probes_result_state_check CHECK (state IN ('running', 'ok', 'failed', 'unknown'))
      )`);
    this.addSql('CREATE INDEX probes_result_of_route ON probes_result (route, check_name, started_at)');
    this.addSql('CREATE INDEX probes_result_of_upstream ON probes_result (upstream, started_at)');
  }

  override down(): void {
    this.addSql('DROP TABLE probes_result');
  }
}
