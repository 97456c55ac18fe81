import pg from 'pg';

export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Settings that statements rely on. They override the settings of the role and the database, because retries assume this isolation level,
 * and times are parsed in this style.
 */
export const expectedSettings = { datestyle: 'ISO', default_transaction_isolation: 'read committed' };

/** Settings of sessions that wait for something, such as a notification, and must not time out. */
export const waitingSettings = { ...expectedSettings, idle_session_timeout: 0 };

/**
 * Returns the SQL that makes commits wait for the disk, even if the role's do not. If the role's commits wait for replicas, they still do.
 *
 * @param isLocal true for the current transaction only
 */
export const enableDurableCommitsSql = (isLocal: boolean) =>
  `CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', ${isLocal}) END`;

/**
 * Applies the settings that the server supports to a new session. They are not sent as start parameters, because `options` in the URL would
 * replace them, and PgBouncer rejects parameters that it does not support.
 */
export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  const settingCalls = Object.entries(settings).map(([name, value]) => {
    const [key, text] = [name, String(value)].map((part) => pg.escapeLiteral(part));
    return `CASE WHEN current_setting(${key}, true) IS NOT NULL THEN set_config(${key}, ${text}, false) END`;
  });
  await client.query(`SELECT ${[...settingCalls, enableDurableCommitsSql(false)].join(', ')}`);
}

export function findUnexpectedSettings(settings: SessionSettings): { name: string; value: string; expected: string }[] {
  const deviating = Object.entries(expectedSettings).filter(
    ([name, value]) => !String(settings[name]).startsWith(value),
  );
  if (settings['synchronous_commit'] === 'off') deviating.push(['synchronous_commit', 'on']);
  return deviating.map(([name, value]) => ({ name, value: String(settings[name]), expected: value }));
}
