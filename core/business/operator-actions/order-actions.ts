import { boolean, object } from '#core/platform/schema.ts';
import { CheckoutError } from '../payments/checkout-error.ts';
import { cancelOrder, checkOrderAsOperator } from '../payments/checkout.ts';
import { resolveFlag } from '../payments/flags.ts';
import { flagOutcomes, daysBackOptions } from '../payments/order-types.ts';
import { readOrder } from '../payments/order.ts';
import { closeRefund, findOrderOfPayment, refundOrder, refundPayment } from '../payments/refunds.ts';
import { amount, defineAction, note, text } from './action-kind.ts';
import { describeChoice, describeAmount, omitMember, describeFlag } from './member-describers.ts';
import { flagSubject, orderSubject, refundSubject } from './subjects.ts';

export const orderActions = [
  defineAction({
    name: 'order.check',
    subject: orderSubject,
    summary: 'ask the provider about an order now',
    input: object({}),
    async perform(host, id) {
      await checkOrderAsOperator(host, id);
    },
  }),
  defineAction({
    name: 'order.cancel',
    subject: orderSubject,
    summary: 'cancel an unpaid order; a payment that still arrives counts',
    input: object(['note'], { note }),
    isDanger: true,
    async perform(host, id) {
      const { state, code } = await cancelOrder(host, id);
      if (state !== 'cancelled')
        throw new CheckoutError('not_open', `Order ${code} is ${state}; it cannot be cancelled.`);
    },
  }),
  defineAction({
    name: 'order.refund',
    subject: orderSubject,
    summary: 'refund a payment, in full or in part',
    input: object(['note'], {
      payment: text('Id of the payment, if the order has several that can be refunded.'),
      amount: amount('Amount to refund; default: the whole remainder.'),
      days_back: {
        enum: daysBackOptions,
        description: 'Days to take back; default: the unused days if the whole payment is refunded, otherwise none.',
      },
      note,
      manual: boolean('True if you have paid the money back yourself.'),
    }),
    tells: {
      payment: omitMember,
      amount: describeAmount,
      days_back: describeChoice('operator.told.days_back'),
      manual: describeFlag('operator.told.manual'),
    },
    async perform(host, id, { payment, amount: refundAmount, manual = false, days_back: days, note: reason }) {
      const options = { amount: refundAmount, days, isManual: manual, reason };
      if (payment !== undefined && (await findOrderOfPayment(host.database, payment))?.id !== id)
        throw new CheckoutError('not_found', `The order has no payment ${payment}.`);
      const refund = await (payment === undefined
        ? refundOrder(host, id, options)
        : refundPayment(host, payment, options));
      if (refund.state === 'failed')
        throw new CheckoutError(
          'not_refunded',
          'The provider did not refund the payment. Pay the money back yourself, then record that (manual).',
        );
      return { refund: refund.key, state: refund.state };
    },
  }),
  defineAction({
    name: 'refund.close',
    subject: refundSubject,
    summary: 'close a refund in progress with the result at the provider',
    input: object(['as', 'note'], { as: { enum: ['done', 'failed'], description: 'Result of the refund.' }, note }),
    tells: { as: describeChoice('operator.refund_state') },
    async perform(host, key, { as: outcome, note: reason }) {
      await closeRefund(host, key, outcome, reason);
    },
  }),
  defineAction({
    name: 'flag.resolve',
    subject: flagSubject,
    summary: 'resolve a flag, or all flags of an order, and record what was done',
    input: object(['note'], {
      outcome: {
        enum: flagOutcomes,
        description: 'Decision about money that bought nothing, for the buyer; default: only that it was decided.',
      },
      note,
    }),
    tells: { outcome: describeChoice('operator.flag_outcome') },
    async perform({ database }, id, { outcome, note: resolution }) {
      const resolvedCount = await resolveFlag(database, id, resolution, outcome);
      if (resolvedCount > 0) return { resolved: resolvedCount };
      const code = (await readOrder(database, { id }))?.code;
      const message = code === undefined ? 'The flag is resolved.' : `Order ${code} has no unresolved flag.`;
      throw new CheckoutError('not_open', message);
    },
  }),
] as const;
