import { gaugeBy } from '#core/gateway/health/gauge.ts';
import { countMessages } from '#core/business/mail/outbox.ts';

/** Mails and webhooks on their way; the same on every instance. */
export const mailGauges = [
  gaugeBy(
    ['channel', 'state'],
    'mail_messages',
    'Messages by channel (customer, operator, webhook) and state: waiting, and failed or of unknown fate in the last 24 hours.',
    async ({ database }) =>
      (await countMessages(database)).flatMap(({ channel, waiting, failed }) => [
        [channel, 'waiting', waiting] as const,
        [channel, 'failed', failed] as const,
      ]),
  ),
  gaugeBy(
    ['channel'],
    'mail_waiting_oldest_seconds',
    'Age of the oldest message that waits, by channel; 0 without any.',
    async ({ database }) => (await countMessages(database)).map(({ channel, oldest }) => [channel, oldest]),
  ),
];
