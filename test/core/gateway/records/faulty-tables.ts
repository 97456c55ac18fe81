import type { Database } from '#core/platform/database/database.ts';

/** Tables whose next statements fail, as when a process or its connection dies there. */
export class FaultyTables {
  static readonly names = [
    'usage_delta',
    'route_usage_delta',
    'usage_hour',
    'usage_account',
    'usage_total',
    'route_usage_hour',
  ] as const;
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async install(database: Database): Promise<FaultyTables> {
    await database.query('CREATE TABLE broken (name text)');
    await database.query(`
      CREATE FUNCTION fail_if_broken() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT FROM broken WHERE name = TG_TABLE_NAME) THEN RAISE EXCEPTION 'broken on purpose'; END IF;
        RETURN NULL;
      END $$`);
    for (const name of FaultyTables.names)
      await database.query(
        `CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON ${name} FOR EACH STATEMENT EXECUTE FUNCTION fail_if_broken()`,
      );
    return new FaultyTables(database);
  }

  async break(table: string): Promise<void> {
    await this.#database.query('INSERT INTO broken VALUES (?)', [table]);
  }

  async repair(): Promise<void> {
    await this.#database.query('DELETE FROM broken');
  }
}
