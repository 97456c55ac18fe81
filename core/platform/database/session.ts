import pg from 'pg';

/** Session settings by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Settings that statements rely on, overriding those of the role and the database: retries assume this isolation level, and times are
 * parsed in this style.
 */
export const expectedSettings = { datestyle: 'ISO', default_transaction_isolation: 'read committed' };

/** For sessions that wait for something, such as a notification. */
export const waitingSettings = { ...expectedSettings, idle_session_timeout: 0 };

/**
 * SQL that makes commits wait for the disk if the role's do not. A role's waiting for replicas is kept.
 *
 * @param isLocal true for the current transaction only
 */
export const durableCommits = (isLocal: boolean) =>
  `CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`;

/**
 * Applies settings to a new session, if the server knows them. They are not sent as start parameters, because `options` in the URL would
 * replace them, and PgBouncer rejects unknown ones.
 */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const calls = Object.entries(settings).map(([name, value]) => {
    const [key, text] = [name, String(value)].map((part) => pg.escapeLiteral(part));
    return `CASE WHEN current_setting(${key}, true) IS NOT NULL THEN set_config(${key}, ${text}, false) END`;
  });
  await client.query(`SELECT ${[...calls, durableCommits(false)].join(', ')}`);
}

/**
 * Returns the session settings that deviate from `expectedSettings`, with the required values.
 *
 * @param settings of a session
 */
export function unexpectedSettings(settings: SessionSettings): { name: string; value: string; expected: string }[] {
  const expected = Object.entries(expectedSettings).filter(
    ([name, value]) => !String(settings[name]).startsWith(value),
  );
  if (settings['synchronous_commit'] === 'off') expected.push(['synchronous_commit', 'on']);
  return expected.map(([name, value]) => ({ name, value: String(settings[name]), expected: value }));
}
