import { moneyEvents } from '#core/business/mail/mails.ts';
import type { MessageSources } from '#core/business/mail/outbox.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { runInBackground } from '#core/platform/background.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { mailReason } from './mail-reason.ts';

const maxAgeMs = 30_000; // every instance checks its health every few seconds
const maxWaitMs = 15 * 60_000; // as in the alert `DaypassMailFailing`

/** Times are epoch ms. */
interface MailTrouble {
  readonly waitingSince: number | undefined; // when the oldest mail that this instance can send began to wait
  readonly error: string | undefined; // of the oldest waiting mail that has one
  readonly undelivered: number; // mails about money that failed in the last day
  readonly undeliveredSince: number | undefined;
}

const lostCondition = `m.channel = 'customer' and m.state in ('failed', 'uncertain') and e.name in (?)`;

export async function readMailTrouble(database: Queries, gateway: MessageSources): Promise<MailTrouble> {
  const { supportedCondition, listSupportedEvents } = await import('#core/business/mail/outbox.ts');
  const [row] = await database.query<{
    waiting: number | null;
    error: string | null;
    lost: number;
    since: number | null;
  }>(
    `select ${epoch(`min(coalesce(m.asked_at, m.created_at)) filter (where m.state in ('waiting', 'sending'))`)} as waiting,
       (array_agg(m.error order by m.created_at) filter (where m.state = 'waiting' and m.error is not null))[1] as error,
       count(*) filter (where ${lostCondition})::float8 as lost, ${epoch(`min(m.finished_at) filter (where ${lostCondition})`)} as since
     from mail_message m join account_event e on e.id = m.event_id
     where m.channel <> 'webhook' and (m.state in ('waiting', 'sending') and ${supportedCondition}
       or m.state in ('failed', 'uncertain') and m.finished_at > clock_timestamp() - interval '1 day')`,
    [moneyEvents, moneyEvents, listSupportedEvents(gateway)],
  );
  return {
    waitingSince: row?.waiting ?? undefined,
    error: row?.error ?? undefined,
    undelivered: row?.lost ?? 0,
    undeliveredSince: row?.since ?? undefined,
  };
}

export function evaluateMails(
  { waitingSince, error, undelivered, undeliveredSince }: MailTrouble,
  now: number,
): HealthVerdict {
  if (waitingSince !== undefined && now - waitingSince > maxWaitMs) {
    const minutes = Math.floor((now - waitingSince) / 60_000);
    const reason =
      error === undefined
        ? mailReason('mail.reason.waiting_unknown', { minutes })
        : mailReason('mail.reason.waiting', { minutes, error });
    return { ok: false, reason, since: waitingSince };
  }
  if (undelivered === 0) return { ok: true };
  const reason = mailReason('mail.reason.money_undelivered', { count: undelivered });
  return { ok: false, reason, since: undeliveredSince ?? now };
}

class MailHealth {
  #trouble: MailTrouble | undefined;
  #readAt = -Infinity;

  /** If the state is too old, it is refreshed for the next caller. */
  getVerdict(host: Host, gateway: MessageSources): HealthVerdict {
    if (host.monotonic() - this.#readAt >= maxAgeMs) {
      this.#readAt = host.monotonic();
      runInBackground(host.log, 'reading the state of the mail queue', async () => {
        this.#trouble = await readMailTrouble(host.database, gateway);
      });
    }
    return this.#trouble === undefined ? { ok: true } : evaluateMails(this.#trouble, host.now());
  }
}

export const createMailCheck = (gateway: MessageSources): HealthCheck => ({
  name: 'mail',
  runbook: 'mail-failing',
  appliesTo: (host) => sendsMail(host.section),
  check: (host) => host.keep('mail/health', () => new MailHealth()).getVerdict(host, gateway),
});
