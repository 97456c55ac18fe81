import type { Gauge } from '#core/gateway/health/gauge.ts';
import { countMessages } from './outbox.ts';

/** Mails and webhooks on their way; the same on every instance. */
export const mailGauges: readonly Gauge[] = [
  {
    name: 'mail_messages',
    description:
      'Messages by channel (customer, operator, webhook) and state: waiting, and failed or of unknown fate in the last 24 hours.',
    labels: ['channel', 'state'],
    read: async ({ database }) =>
      (await countMessages(database)).flatMap(({ channel, waiting, failed }) => [
        { value: waiting, labels: { channel, state: 'waiting' } },
        { value: failed, labels: { channel, state: 'failed' } },
      ]),
  },
  {
    name: 'mail_waiting_oldest_seconds',
    description: 'Age of the oldest message that waits, by channel; 0 without any.',
    labels: ['channel'],
    read: async ({ database }) =>
      (await countMessages(database)).map(({ channel, oldest }) => ({ value: oldest, labels: { channel } })),
  },
];
