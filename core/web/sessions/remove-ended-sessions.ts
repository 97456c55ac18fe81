import type { JobDefinition } from '#core/gateway/host/job-definition.ts';
import { sessionsOf } from './sign-in.ts';

/** Nothing depends on it: a session that has ended is refused whether its row is there or not. */
export const removeEndedSessions: JobDefinition = {
  name: 'remove-ended-sessions',
  description: 'Deletes sessions that have expired or have not been used for weeks.',
  schedule: { pattern: '17 3 * * *' },
  async run(_data, host) {
    const count = await sessionsOf(host).removeEnded();
    if (count > 0) host.log.info(`deleted ${count} expired sessions`);
  },
};
