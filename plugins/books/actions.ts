import { ActionRefused, defineAction, type SubjectKind, text } from '#core/business/operator-actions/action-kind.ts';
import { describeAsIs } from '#core/business/operator-actions/member-describers.ts';
import { maxActionMs } from '#core/business/operator-actions/operator-actions.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { getPaymentProviders } from '#core/business/payments/connections.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { object } from '#core/platform/schema.ts';
import { isDay, isTimeZone } from '#core/platform/timing/time-zone.ts';

const books: SubjectKind = { name: 'books' };

export const reconcileAction = defineAction({
  name: 'books.reconcile',
  subject: books,
  summary: "compare a day's payments and refunds with the provider's books, and flag differences",
  input: object(['day'], {
    day: text('Day, such as 2026-11-22.', 10),
    provider: text('Only this provider; default: all that had charges.', 60),
    time_zone: text('Time zone of the day; default: service.time_zone.', 60),
  }),
  tells: { day: describeAsIs, time_zone: describeAsIs, provider: describeAsIs },
  perform: async (host, _id, { day, provider, time_zone: timeZone = host.section(service).time_zone }) => ({
    compared: await reconcileBooks(host, day, timeZone, provider),
  }),
});

/** Imported on use: loading MikroORM would slow down every command. */
async function reconcileBooks(host: Host, day: string, timeZone: string, provider: string | undefined) {
  const { reconcileDay } = await import('./reconcile.ts');
  if (!isDay(day)) throw new ActionRefused(`"${day}" is not a day, such as 2026-11-22.`, 'invalid');
  if (!isTimeZone(timeZone))
    throw new ActionRefused(`"${timeZone}" is not a time zone, such as Asia/Jakarta.`, 'invalid');
  if (provider !== undefined && !getPaymentProviders(host).has(provider))
    throw new ActionRefused(`Payment provider "${provider}" not found.`, 'not_found');
  try {
    return await reconcileDay(host, { day, timeZone, provider }, AbortSignal.timeout(maxActionMs));
  } catch (error) {
    throw error instanceof PaymentError ? new CheckoutError('no_answer', error.message) : error;
  }
}
