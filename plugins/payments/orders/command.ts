import { type Command as Parser, Option } from 'commander';
import { formatMoney } from '#core/business/accounts/money.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { zoneOf } from '#core/extension/commands/days.ts';
import { filtered, type FilterOptions, readFilter } from '#core/extension/commands/order-filter.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { coreAction, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import {
  type DaysBack,
  type FlagOutcome,
  flagOutcomes,
  refundable,
  waysOfDaysBack,
} from '#core/business/payments/order-types.ts';
import { describeFlags, describeOrder, describeOrders, type OrderDetails } from './describe.ts';
import { examples, exitCodes, operations, type Output, subcommand, withHost } from './subcommand.ts';

/** `daypass orders …`: for the operator and for bookkeeping. Works beside a running gateway. */
export const ordersCommand: Command = {
  name: 'orders',
  define(parser, context) {
    parser.description('list, find, show and refund orders, and resolve their flags').addHelpText('after', exitCodes);
    defineList(parser, context);
    defineFind(parser, context);
    defineFlags(parser, context);
    defineShow(parser, context);
    defineResolve(parser, context);
    for (const action of ['order.check', 'order.cancel'] as const) defineAction(parser, context, action);
    defineRefund(parser, context);
    defineClose(parser, context);
  },
};

function defineList(parser: Parser, context: CommandContext): void {
  listed(filtered(subcommand(parser, 'list', 'list orders, the newest first; days are those of their creation')))
    .option('--wrong-first', 'begin with open flags, failed charges and refunds under way')
    .addHelpText(
      'after',
      examples(['daypass orders list --flagged', 'daypass orders list --day 2026-11-22 --wrong-first']),
    )
    .action((options: ListOptions) => printOrders(context, options));
}

function defineFind(parser: Parser, context: CommandContext): void {
  listed(
    filtered(subcommand(parser, 'find', 'search orders by buyer, reference of the provider, or amount and minute')),
  )
    .argument(
      '<words>',
      'a part of the code, or of the name or e-mail address of the buyer; a reference or payment id of the provider; an amount, also with the minute in the zone, five minutes either way',
      parseLine,
    )
    .addHelpText('after', examples(['daypass orders find ani@', 'daypass orders find "95.000 20:14"']))
    .action((words: string, options: ListOptions) => printOrders(context, options, words));
}

interface ListOptions extends FilterOptions, Output {
  readonly limit: number;
  readonly after?: string;
  readonly wrongFirst?: true;
}

async function printOrders(context: CommandContext, options: ListOptions, words?: string): Promise<void> {
  await withHost(context, async (host) => {
    const { listOrders, ownersOf } = await operations();
    const timeZone = zoneOf(host, options);
    const filter = {
      ...(await readFilter(host, options, timeZone)),
      words,
      timeZone,
      isWorstFirst: options.wrongFirst,
    };
    const { orders, next } = await listOrders(host.database, filter, options.after, options.limit);
    if (options.json === true) return context.print(JSON.stringify({ orders, next: next ?? null }, null, 2));
    const owners = await ownersOf(host, orders);
    for (const line of describeOrders(orders, owners, timeZone)) context.print(line);
    if (next !== undefined) context.print(`\nmore: --after ${next}`);
  });
}

function defineFlags(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'flags', 'list open flags, also those of money without an order, the worst first')
    .option('--limit <flags>', 'flags to list, 1 to 1000', parseInteger(1, 1_000), 50)
    .addHelpText('after', examples(['daypass orders flags']))
    .action((options: Output & { limit: number }) =>
      withHost(context, async (host) => {
        const { listOpenFlags } = await operations();
        const { flags, total } = await listOpenFlags(host.database, options.limit);
        if (options.json === true) return context.print(JSON.stringify({ flags, total }, null, 2));
        for (const line of describeFlags(flags, zoneOf(host, options))) context.print(line);
        if (total > flags.length) context.print(`\n${total - flags.length} more: --limit ${total}`);
      }),
    );
}

function defineShow(parser: Parser, context: CommandContext): void {
  orderCommand(
    parser,
    'show',
    'show an order with its attempts, payments, notifications, flags, refunds, ledger and actions',
  )
    .addHelpText('after', examples(['daypass orders show ORD-7F3K2MQX']))
    .action((handle: string, output: Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        print(context, host, output, await detailsOf(host, await findOrder(host, handle)));
      }),
    );
}

function defineResolve(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'resolve', 'mark the flags of an order, or one flag, as resolved')
    .argument('<order>', 'code or id of an order, or id of a flag (daypass orders flags)', parseLine)
    .requiredOption('--note <text>', 'what was done, kept for bookkeeping', parseLine)
    .addOption(
      new Option('--outcome <outcome>', 'what the buyer reads about money that bought nothing').choices(flagOutcomes),
    )
    .addHelpText(
      'after',
      examples(['daypass orders resolve ORD-7F3K2MQX --outcome money_back --note "paid back by bank transfer"']),
    )
    .action((handle: string, options: { note: string; outcome?: FlagOutcome } & Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        const done = await runAction(host, commandOperator(), coreAction('flag.resolve'), handle, {
          note: options.note,
          outcome: options.outcome,
        });
        const { id, recordedAt } = done.subject;
        // Money that belongs to no order has only its flag.
        const order = await findOrder(host, recordedAt).catch((error: unknown) => {
          if (error instanceof CommandFailed) return undefined;
          throw error;
        });
        if (order !== undefined) return print(context, host, options, await detailsOf(host, order));
        context.print(options.json === true ? JSON.stringify({ flag: id }, null, 2) : `resolved ${id}`);
      }),
    );
}

/** A command that follows from the description of its action: `order.check` becomes `check`. */
function defineAction(parser: Parser, context: CommandContext, action: 'order.check' | 'order.cancel'): void {
  const kind: ActionKind = coreAction(action);
  addActionOptions(orderCommand(parser, action.slice('order.'.length), kind.summary), kind)
    .addHelpText('after', exitCodes)
    .action((handle: string, options: Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        const { id } = await findOrder(host, handle);
        await runAction(host, commandOperator(), kind, id, readActionInput(kind, { ...options }));
        print(context, host, options, await detailsOf(host, await findOrder(host, id)));
      }),
    );
}

interface RefundFlags extends Output {
  readonly payment?: string;
  readonly amount?: number;
  readonly days?: DaysBack;
  readonly note: string;
  readonly manual?: true;
  readonly yes?: true;
}

function defineRefund(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'refund', 'pay a payment back, in full or in part')
    .argument('[order]', 'code or id of an order with one payment', parseLine)
    .option('--payment <id>', 'this payment, by its id here or at the provider', parseLine)
    .option('--amount <amount>', 'a part of it; default: all that is left', parseInteger(1, Number.MAX_SAFE_INTEGER))
    .addOption(
      new Option(
        '--days <days>',
        'days that go back; default: unused ones with the whole payment, none with a part',
      ).choices(waysOfDaysBack),
    )
    .requiredOption('--reason, --note <text>', 'for the provider and for bookkeeping', parseLine)
    .option('--manual', 'the money has been paid back outside of the provider')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `\nDays go back when the refund is done: the unused ones, or all of them, the used ones from what the account holds besides. Later periods move forward.${examples(
        [
          'daypass orders refund ORD-7F3K2MQX --note "bought twice"',
          'daypass orders refund --payment 5f0c… --amount 30000 --note "two days without service"',
          'daypass orders refund ORD-7F3K2MQX --note "bought twice" --manual',
        ],
      )}`,
    )
    .action((handle: string | undefined, options: RefundFlags) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder, paymentToPayBack } = await operations();
        const { order, payment } = await paymentToPayBack(host, handle, options.payment);
        const { amount = refundable(order, payment), days, note } = options;
        if (options.yes !== true) {
          const how = options.manual === true ? 'as paid back by you' : `by ${order.provider}`;
          await confirm([`Refund ${formatMoney(amount, payment.currency)} of order ${order.code} ${how}?`]);
        }
        const { amount: part, manual } = options;
        const input = { payment: payment.id, amount: part, manual, days_back: days, note };
        const run = () => runAction(host, commandOperator(), coreAction('order.refund'), order.id, input);
        const refused = await run().then(
          () => undefined,
          (error: unknown) => {
            if (error instanceof CheckoutError && error.kind === 'not_refunded') return error;
            throw error;
          },
        );
        print(context, host, options, await detailsOf(host, await findOrder(host, order.id)));
        if (refused !== undefined) throw refused;
      }),
    );
}

function defineClose(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'close-refund', 'close a refund that is under way, by what the provider has told you')
    .argument('<refund>', 'key of the refund, such as ORD-7F3K2MQX-R1', parseLine)
    .addOption(new Option('--as <outcome>', 'what became of it').choices(['done', 'failed']).makeOptionMandatory())
    .requiredOption('--note <text>', 'who said so, kept for bookkeeping', parseLine)
    .addHelpText('after', examples(['daypass orders close-refund ORD-7F3K2MQX-R1 --as failed --note "ticket 8123"']))
    .action((key: string, options: { as: 'done' | 'failed'; note: string } & Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        const input = { as: options.as, note: options.note };
        const { subject } = await runAction(host, commandOperator(), coreAction('refund.close'), key, input);
        print(context, host, options, await detailsOf(host, await findOrder(host, subject.recordedAt)));
      }),
    );
}

function orderCommand(parser: Parser, name: string, description: string): Parser {
  return subcommand(parser, name, description).argument('<order>', 'code or id of the order', parseLine);
}

function listed(parser: Parser): Parser {
  return parser
    .option('--limit <orders>', 'orders to list, 1 to 1000', parseInteger(1, 1_000), 50)
    .option('--after <id>', 'continue after the order with this id', parseLine);
}

function print(context: CommandContext, host: Host, output: Output, details: OrderDetails): void {
  if (output.json === true) return context.print(JSON.stringify(details, null, 2));
  for (const line of describeOrder(details, zoneOf(host, output))) context.print(line);
}
