import { CheckoutError } from '../payments/checkout-error.ts';
import { flagOutcomes, waysOfDaysBack } from '../payments/order-types.ts';
import { amount, defineAction, note, text } from './action-kind.ts';
import { flagSubject, orderSubject, refundSubject } from './subjects.ts';
import { choice, money, hidden, whether } from './telling.ts';
import { boolean, object } from '#core/platform/schema.ts';

/*
 * Actions on orders, their refunds and their flags. Each loads its implementation when performed: MikroORM would slow all commands down.
 */

const checkout = () => import('../payments/checkout.ts');
const refunds = () => import('../payments/refunds.ts');

export const orderActions = [
  defineAction({
    name: 'order.check',
    subject: orderSubject,
    summary: 'ask the provider about an order now',
    input: object({}),
    async perform(host, id) {
      await (await checkout()).checkOrder(host, id);
    },
  }),
  defineAction({
    name: 'order.cancel',
    subject: orderSubject,
    summary: 'cancel an order that is not paid; a payment that comes nevertheless still counts',
    input: object(['note'], { note }),
    isDanger: true,
    async perform(host, id) {
      const { state, code } = await (await checkout()).cancelOrder(host, id);
      if (state !== 'cancelled')
        throw new CheckoutError('not_open', `Order ${code} is ${state}; it cannot be cancelled.`);
    },
  }),
  defineAction({
    name: 'order.refund',
    subject: orderSubject,
    summary: 'pay a payment back, in full or in part',
    input: object(['note'], {
      payment: text('Its id, where the order has several with anything left.'),
      amount: amount('A part of it; default: all that is left.'),
      days_back: {
        enum: waysOfDaysBack,
        description: 'Days that go back; default: unused ones with the whole payment, none with a part.',
      },
      note,
      manual: boolean('Whether you have paid it back yourself.'),
    }),
    tells: {
      payment: hidden,
      amount: money,
      days_back: choice('operator.told.days_back'),
      manual: whether('operator.told.manual'),
    },
    async perform(host, id, { payment, amount: part, manual = false, days_back: days, note: reason }) {
      const { findOrderOfPayment, refundOrder, refundPayment } = await refunds();
      const options = { amount: part, days, isManual: manual, reason };
      if (payment !== undefined && (await findOrderOfPayment(host.database, payment))?.id !== id)
        throw new CheckoutError('not_found', `The order has no payment ${payment}.`);
      const { refund } = await (payment === undefined
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
    summary: 'close a refund that is under way, by what the provider has told you',
    input: object(['as', 'note'], { as: { enum: ['done', 'failed'], description: 'What became of it.' }, note }),
    tells: { as: choice('operator.refund_state') },
    async perform(host, key, { as: outcome, note: who }) {
      await (await refunds()).closeRefund(host, key, outcome, who);
    },
  }),
  defineAction({
    name: 'flag.resolve',
    subject: flagSubject,
    summary: 'mark a flag as resolved, or all flags of an order, with what was done',
    input: object(['note'], {
      outcome: {
        enum: flagOutcomes,
        description: 'What the buyer reads about money that bought nothing; default: only that it was decided.',
      },
      note,
    }),
    tells: { outcome: choice('operator.flag_outcome') },
    async perform({ database }, id, { outcome, note: done }) {
      const { resolveFlag } = await import('../payments/flags.ts');
      const resolved = await resolveFlag(database, id, done, outcome);
      if (resolved > 0) return { resolved };
      const { readOrder } = await import('../payments/order.ts');
      const code = (await readOrder(database, { id }))?.code;
      const message = code === undefined ? 'The flag is resolved.' : `Order ${code} has no flag that is not resolved.`;
      throw new CheckoutError('not_open', message);
    },
  }),
] as const;
