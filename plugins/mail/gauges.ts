import type { MessageSources } from '#core/business/mail/outbox.ts';
import { gaugeBy } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';

/** All instances of a version report the same values. */
export const createMailGauges = (gateway: MessageSources) => [
  gaugeBy(
    ['channel', 'state'],
    'mail_messages',
    'Messages by channel (customer, operator, webhook) and state: waiting, or failed or of unknown outcome in the last 24 hours.',
    async (host) =>
      (await readCounts(host, gateway)).flatMap(({ channel, waiting, failed }) => [
        [channel, 'waiting', waiting] as const,
        [channel, 'failed', failed] as const,
      ]),
  ),
  gaugeBy(
    ['channel'],
    'mail_waiting_oldest_seconds',
    'Age of the oldest waiting message, by channel; 0 if none waits.',
    async (host) => (await readCounts(host, gateway)).map(({ channel, oldest }) => [channel, oldest]),
  ),
];

async function readCounts({ database }: Pick<Host, 'database'>, gateway: MessageSources) {
  const { countMessages } = await import('#core/business/mail/outbox.ts');
  return countMessages(database, gateway);
}
