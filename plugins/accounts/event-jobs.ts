import { publishEvents, removeOldEvents } from '#core/business/accounts/account-events.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';

/** Finds what the relay has missed: notifications are lost while the connection to PostgreSQL is down. */
export const publishJob: JobDefinition = {
  name: 'publish-account-events',
  description: 'Publishes recorded events that have not been published yet.',
  schedule: { every: 15 },
  attempts: 1,
  async run(_data, host) {
    await publishEvents(host);
  },
};

export const retentionJob: JobDefinition = {
  name: 'remove-old-account-events',
  description: 'Deletes events that were published more than 90 days ago.',
  schedule: { pattern: '23 3 * * *' },
  async run(_data, host) {
    await removeOldEvents(host.database);
  },
};
