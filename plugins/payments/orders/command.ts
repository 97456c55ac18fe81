import { formatMoney } from '#core/business/accounts/money.ts';
import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { findOrder } from '#core/business/operator-actions/subjects.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { computeRefundable } from '#core/business/payments/order-types.ts';
import { type ActionCommandWords, addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { addShowCommand, type CommandSubject } from '#core/extension/commands/show-command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { type OrderDetails, readOrderDetails } from '#core/web/resources/order-parts.ts';
import { openFlags, orders } from '#core/web/resources/orders.ts';
import { describeOrder } from './describe.ts';

const exitCodes = exitCodesFor('order or account');

const order: CommandSubject<OrderDetails> = {
  argument: ['order', 'order code or id'],
  exitCodes,
  read: async (host, handle) => readOrderDetails(host.database, await findOrderWithHint(host, handle)),
  toJson: (details) => toOperatorJson(details, true) as object,
  describe: describeOrder,
};

export const orderReading: OperatorReading = {
  path: '/orders/{handle}',
  summary: 'read an order with its payments, refunds and flags',
  read: async (host, handle) => readOrderDetails(host.database, await findOrder(host, handle)),
};

/** Money without an order has no details, only its flag. */
const flaggedOrder: CommandSubject<OrderDetails> = {
  ...order,
  read: (host, handle) =>
    Promise.resolve(order.read(host, handle)).catch((error: unknown) => {
      if (error instanceof CheckoutError) return undefined;
      throw error;
    }),
};

const findOrderWithHint = (host: Host, handle: string) =>
  findOrder(host, handle, ' List orders with: daypass orders list');

/** `needsConfirmation: false` keeps existing scripts working. */
const actions = [
  [
    'flag.resolve',
    {
      about: flaggedOrder,
      handle: 'order code or id, or flag id (daypass orders flags)',
      done: (id) => `resolved ${id}`,
      examples: ['daypass orders resolve ORD-7F3K2MQX --outcome money_back --note "paid back by bank transfer"'],
    },
  ],
  ['order.check', {}],
  ['order.cancel', { needsConfirmation: false }],
  [
    'order.refund',
    {
      handle: 'code or id of an order that has one payment',
      isHandleOptional: true,
      needsConfirmation: true,
      names: { days_back: '--days', note: '--reason, --note' },
      help: "Days are removed once the refund is done: the unused ones, or all. Days already used are then removed from the account's other periods. Later periods then start earlier.",
      examples: [
        'daypass orders refund ORD-7F3K2MQX --note "bought twice"',
        'daypass orders refund --payment 5f0c… --amount 30000 --note "two days without service"',
        'daypass orders refund ORD-7F3K2MQX --note "bought twice" --manual',
      ],
      readRequest: readRefundRequest,
    },
  ],
  [
    'refund.close',
    {
      verb: 'close-refund',
      handle: 'refund key, such as ORD-7F3K2MQX-R1',
      examples: ['daypass orders close-refund ORD-7F3K2MQX-R1 --as failed --note "ticket 8123"'],
    },
  ],
] as const satisfies readonly (readonly [Parameters<typeof getCoreAction>[0], ActionCommandWords])[];

async function readRefundRequest(host: Host, handle: string, input: { readonly [member: string]: unknown }) {
  const { payment: id, ...rest } = input as { payment?: string; amount?: number; manual?: true };
  if (id === undefined && handle === '') throw new CommandFailed('Name an order, or pass --payment ID.', 2);
  // Imported on use, because loading MikroORM would slow down every other command.
  const { findOrderOfPayment, findRefundablePayment } = await import('#core/business/payments/refunds.ts');
  const paidOrder =
    handle === '' ? await findOrderOfPayment(host.database, `${id}`) : await findOrderWithHint(host, handle);
  if (paidOrder === undefined) throw new CommandFailed(`Payment ${id} not found.`, 3);
  const payment =
    id === undefined
      ? findRefundablePayment(paidOrder)
      : paidOrder.payments.find((candidate) => candidate.id === id.toLowerCase() || candidate.paymentId === id);
  if (payment === undefined) throw new CommandFailed(`Order ${paidOrder.code} has no payment ${id}.`, 3);
  const money = formatMoney(rest.amount ?? computeRefundable(paidOrder, payment), payment.currency);
  const method = rest.manual === true ? 'as paid back by you' : `by ${paidOrder.provider}`;
  return {
    handle: paidOrder.id,
    input: { payment: payment.id, ...rest },
    question: [`Refund ${money} of order ${paidOrder.code} ${method}?`],
  };
}

export const ordersCommand: Command = {
  name: 'orders',
  define(parser, context) {
    parser.description('list, find, show and refund orders, and resolve their flags').addHelpText('after', exitCodes);
    addListCommand(parser, context, orders, {
      exitCodes,
      examples: ['daypass orders list --flagged', 'daypass orders list --day 2026-11-22 --wrong-first'],
    });
    addListCommand(parser, context, orders, {
      exitCodes,
      verb: 'find',
      examples: ['daypass orders find ani@', 'daypass orders find "95.000 20:14"'],
    });
    addListCommand(parser, context, openFlags, { exitCodes, verb: 'flags', examples: ['daypass orders flags'] });
    addShowCommand(parser, context, order, {
      summary: 'show an order with its attempts, payments, notifications, flags, refunds, ledger and actions',
      examples: ['daypass orders show ORD-7F3K2MQX'],
    });
    for (const [name, wording] of actions)
      addActionCommand(parser, context, getCoreAction(name), { about: order, ...wording });
  },
};
