import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { formatMoney } from '#core/business/accounts/money.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { isDay, parseDay, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { actionKind, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import { type DaysBack, orderStates, refundable, waysOfDaysBack } from '#core/business/payments/order-types.ts';
import { describeFlags, describeOrder, describeOrders, type OrderDetails } from './describe.ts';
import type { FilterOptions } from './operations.ts';

interface Output extends ZoneOptions {
  readonly json?: true;
}

const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 order or account not found.`;

/** `gateway orders …`: for the operator and for bookkeeping. Works beside a running gateway. */
export const ordersCommand: Command = {
  name: 'orders',
  define(parser, context) {
    parser
      .description('list, find, show, refund, export and reconcile orders, and resolve their flags')
      .addHelpText('after', exitCodes);
    defineList(parser, context);
    defineFind(parser, context);
    defineFlags(parser, context);
    defineShow(parser, context);
    defineResolve(parser, context);
    for (const action of ['order.check', 'order.cancel'] as const) defineAction(parser, context, action);
    defineRefund(parser, context);
    defineClose(parser, context);
    defineExport(parser, context);
    defineReconcile(parser, context);
    defineMonth(parser, context);
  },
};

const operations = () => import('./operations.ts');

function defineList(parser: Parser, context: CommandContext): void {
  listed(filtered(subcommand(parser, 'list', 'list orders, the newest first; days are those of their creation')))
    .option('--wrong-first', 'begin with open flags, failed charges and refunds under way')
    .addHelpText(
      'after',
      examples(['gateway orders list --flagged', 'gateway orders list --day 2026-11-22 --wrong-first']),
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
    .addHelpText('after', examples(['gateway orders find ani@', 'gateway orders find "95.000 20:14"']))
    .action((words: string, options: ListOptions) => printOrders(context, options, words));
}

interface ListOptions extends FilterOptions, Output {
  readonly limit: number;
  readonly after?: string;
  readonly wrongFirst?: true;
}

async function printOrders(context: CommandContext, options: ListOptions, words?: string): Promise<void> {
  await withHost(context, async (host) => {
    const { listOrders, ownersOf, readFilter } = await operations();
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
    .addHelpText('after', examples(['gateway orders flags']))
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
    .addHelpText('after', examples(['gateway orders show ORD-7F3K2MQX']))
    .action((handle: string, output: Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        print(context, host, output, await detailsOf(host, await findOrder(host, handle)));
      }),
    );
}

function defineResolve(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'resolve', 'mark the flags of an order, or one flag, as resolved')
    .argument('<order>', 'code or id of an order, or id of a flag (gateway orders flags)', parseLine)
    .requiredOption('--note <text>', 'what was done, kept for bookkeeping', parseLine)
    .addHelpText('after', examples(['gateway orders resolve ORD-7F3K2MQX --note "paid back by bank transfer"']))
    .action((handle: string, options: { note: string } & Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        const done = await runAction(host, commandOperator(), actionKind('flag.resolve'), handle, {
          note: options.note,
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
  const kind = actionKind(action);
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
  readonly reason: string;
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
    .requiredOption('--reason <text>', 'for the provider and for bookkeeping', parseLine)
    .option('--manual', 'the money has been paid back outside of the provider')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `\nDays go back when the refund is done: the unused ones, or all of them, the used ones from what the account holds besides. Later periods move forward.${examples(
        [
          'gateway orders refund ORD-7F3K2MQX --reason "bought twice"',
          'gateway orders refund --payment 5f0c… --amount 30000 --reason "two days without service"',
          'gateway orders refund ORD-7F3K2MQX --reason "bought twice" --manual',
        ],
      )}`,
    )
    .action((handle: string | undefined, options: RefundFlags) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder, paymentToPayBack } = await operations();
        const { order, payment } = await paymentToPayBack(host, handle, options.payment);
        const { amount = refundable(order, payment), days, reason } = options;
        if (options.yes !== true) {
          const how = options.manual === true ? 'as paid back by you' : `by ${order.provider}`;
          await confirm([`Refund ${formatMoney(amount, payment.currency)} of order ${order.code} ${how}?`]);
        }
        const { amount: part, manual } = options;
        const input = { payment: payment.id, amount: part, manual, days_back: days, note: reason };
        const run = () => runAction(host, commandOperator(), actionKind('order.refund'), order.id, input);
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
    .addHelpText('after', examples(['gateway orders close-refund ORD-7F3K2MQX-R1 --as failed --note "ticket 8123"']))
    .action((key: string, options: { as: 'done' | 'failed'; note: string } & Output) =>
      withHost(context, async (host) => {
        const { detailsOf, findOrder } = await operations();
        const input = { as: options.as, note: options.note };
        const { subject } = await runAction(host, commandOperator(), actionKind('refund.close'), key, input);
        print(context, host, options, await detailsOf(host, await findOrder(host, subject.recordedAt)));
      }),
    );
}

function defineExport(parser: Parser, context: CommandContext): void {
  filtered(
    parser
      .command('export')
      .description('print payments and finished refunds as CSV, the oldest first; days are those of the money')
      .addOption(zoneOption()),
  )
    .option('--no-totals', 'without the total line of each day and provider')
    .addHelpText(
      'after',
      `\nThe total lines (kind "total") equal the settlement reports of the provider. With --state, --flagged or --account there are none.${examples(
        ['gateway orders export --since 2026-11-01 --until 2026-11-30 > november.csv'],
      )}`,
    )
    .action((options: FilterOptions & Output & { totals: boolean }) =>
      withHost(context, async (host) => {
        const { BooksCsv, listMovements, readFilter } = await operations();
        const zone = zoneOf(host, options);
        const filter = await readFilter(host, options, zone);
        const isWhole = options.state === undefined && options.flagged === undefined && options.account === undefined;
        const csv = new BooksCsv(zone, options.totals && isWhole);
        context.print(csv.head);
        for await (const movement of listMovements(host.database, filter))
          for (const line of csv.add(movement)) context.print(line);
        for (const line of csv.end()) context.print(line);
      }),
    );
}

function defineReconcile(parser: Parser, context: CommandContext): void {
  subcommand(parser, 'reconcile', 'compare payments and refunds of a day with the books of the provider')
    .requiredOption('--day <day>', 'the day, such as 2026-11-22', parseDay)
    .option('--provider <name>', 'only this provider; default: all that had charges', parseLine)
    .addHelpText(
      'after',
      `\nMoney that only one side has is flagged. A running gateway does this every day.${examples([
        'gateway orders reconcile --day 2026-11-22',
      ])}`,
    )
    .action((options: { day: string; provider?: string } & Output) =>
      withHost(context, async (host) => {
        const { currencyOf, describeReconciliation, reconcileDay } = await operations();
        const zone = zoneOf(host, options);
        const found = await reconcileDay(host, options.day, zone, options.provider);
        if (options.json === true) context.print(JSON.stringify(found, null, 2));
        else if (found.length === 0) context.print(`No charges on ${options.day}.`);
        else
          for (const one of found)
            for (const line of describeReconciliation(one, currencyOf(host), zone)) context.print(line);
        if (found.some(({ differences, unread }) => differences.length > 0 || unread > 0))
          throw new CommandFailed('The books differ, or could not be read in full.');
      }),
    );
}

function defineMonth(parser: Parser, context: CommandContext): void {
  parser
    .command('month')
    .description('print the turnover of a month by day, for the tax office')
    .argument('<month>', 'such as 2026-11', parseMonth)
    .option('--html', 'a page to print or to save as PDF, instead of CSV')
    .addOption(zoneOption().default('Asia/Jakarta', 'Asia/Jakarta'))
    .addHelpText('after', examples(['gateway orders month 2026-11 --html > november.html']))
    .action((month: string, options: { html?: true } & ZoneOptions) =>
      withHost(context, async (host) => {
        const { currencyOf, monthToCsv, monthToHtml, readMonth } = await operations();
        const [currency, timeZone] = [currencyOf(host), zoneOf(host, options)];
        const days = await readMonth(host.database, { month, timeZone, currency });
        const document = { seller: host.service.name, month, timeZone, currency, days };
        for (const line of options.html === true ? [monthToHtml(document)] : monthToCsv(document)) context.print(line);
      }),
    );
}

function parseMonth(text: string): string {
  if (/^\d{4}-\d\d$/.test(text) && isDay(`${text}-01`)) return text;
  throw new InvalidArgumentError('It must be a month, for example 2026-11.');
}

function subcommand(parser: Parser, name: string, description: string): Parser {
  return parser.command(name).description(description).option('--json', 'print JSON').addOption(zoneOption());
}

function orderCommand(parser: Parser, name: string, description: string): Parser {
  return subcommand(parser, name, description).argument('<order>', 'code or id of the order', parseLine);
}

function listed(parser: Parser): Parser {
  return parser
    .option('--limit <orders>', 'orders to list, 1 to 1000', parseInteger(1, 1_000), 50)
    .option('--after <id>', 'continue after the order with this id', parseLine);
}

function filtered(parser: Parser): Parser {
  return parser
    .addOption(new Option('--state <state>', 'only orders in this state').choices(orderStates))
    .option('--flagged', 'only orders with a flag that is not resolved')
    .option('--day <day>', 'of one day, such as 2026-11-22', parseDay)
    .option('--since <day>', 'from this day on', parseDay)
    .option('--until <day>', 'up to this day, included', parseDay)
    .option('--account <account>', 'of this account: id, e-mail address, name, hint or key', parseLine);
}

function examples(lines: readonly string[]): string {
  return `\n\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}${exitCodes}`;
}

function print(context: CommandContext, host: Host, output: Output, details: OrderDetails): void {
  if (output.json === true) return context.print(JSON.stringify(details, null, 2));
  for (const line of describeOrder(details, zoneOf(host, output))) context.print(line);
}

/** Errors about accounts and orders become messages with an exit code. */
async function withHost(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  try {
    await context.withHost(work);
  } catch (error) {
    if (error instanceof PaymentError) throw new CommandFailed(error.message);
    const isOurs = error instanceof AccountError || error instanceof CheckoutError;
    if (isOurs) throw new CommandFailed(error.message, error.kind === 'not_found' ? 3 : 1);
    throw error;
  }
}
