import type { Database } from '#core/platform/database/database.ts';
import { type LiveTopic, liveTopics } from '../pages/page.ts';
import type { LiveChange } from './live-bus.ts';

/** Channels on which triggers name an account at commit, with the topics that have news then. */
const channels: Readonly<Record<string, readonly LiveTopic[]>> = {
  // A key, a period, a block.
  account: ['account'],
  account_order: ['orders'],
};

/**
 * Follows what PostgreSQL notifies of, whichever process has written it.
 *
 * @returns the function that ends it
 */
export function followDatabase(
  { notifications }: Pick<Database, 'notifications'>,
  onChange: (change: LiveChange) => void,
): () => void {
  const stops = Object.entries(channels).map(([channel, topics]) => {
    // The database was away: everything may have changed.
    return notifications.listen(
      channel,
      (id) => topics.forEach((topic) => onChange({ topic, accounts: new Set([id]) })),
      () => liveTopics.forEach((topic) => onChange({ topic, accounts: undefined })),
    );
  });
  for (const stop of stops) stop.catch(() => undefined);
  return () => {
    for (const stop of stops) stop.then((end) => end()).catch(() => undefined);
  };
}
