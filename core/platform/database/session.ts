import pg from 'pg';

/** Settings of a session, by name. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/** Settings that statements rely on, overriding those of the role and the database: retries are written for this isolation, and times are read in this style. */
export const expectedSettings = { datestyle: 'ISO', default_transaction_isolation: 'read committed' };

/** The same for sessions that wait for something, such as a notification. */
export const waitingSettings = { ...expectedSettings, idle_session_timeout: 0 };

/**
 * Makes commits wait for the disk where the role's do not. Replicas that a role waits for stay.
 *
 * @param isLocal to the transaction
 */
export const durableCommits = (isLocal: boolean) =>
  `CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`;

/**
 * Sets them in a session that has just begun, if the server has settings of these names. They are not sent with its start: the `options`
 * of a URL would replace them, and PgBouncer rejects unknown ones.
 */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const calls = Object.entries(settings).map(([name, value]) => {
    const [key, text] = [name, String(value)].map((part) => pg.escapeLiteral(part));
    return `CASE WHEN current_setting(${key}, true) IS NOT NULL THEN set_config(${key}, ${text}, false) END`;
  });
  await client.query(`SELECT ${[...calls, durableCommits(false)].join(', ')}`);
}

/**
 * Settings of a role that differ from those that statements rely on, with the required values.
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
