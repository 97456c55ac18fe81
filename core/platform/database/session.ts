import pg from 'pg';

/** Settings of a session, by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/** What statements rely on, whatever the role or the database has: retries are written for this isolation, and times are read in this style. */
export const expectedSettings = { datestyle: 'ISO', default_transaction_isolation: 'read committed' };

/** The same for sessions that wait for something, such as a notification. */
export const waitingSettings = { ...expectedSettings, idle_session_timeout: 0 };

/**
 * Sets them in a session that has just begun, if the server has settings of these names. They are not sent with its start: the `options`
 * of a URL would replace them, and PgBouncer refuses what it does not know.
 */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const calls = Object.entries(settings).map(([name, value]) => {
    const [key, text] = [name, String(value)].map((part) => pg.escapeLiteral(part));
    return `CASE WHEN current_setting(${key}, true) IS NOT NULL THEN set_config(${key}, ${text}, false) END`;
  });
  await client.query(`SELECT ${calls.join(', ')}`);
}
