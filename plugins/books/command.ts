import type { Command as Parser } from 'commander';
import { currencySection } from '#core/business/accounts/plans.ts';
import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { listMovements } from '#core/business/payments/movements.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type CommandContext, CommandFailed, exampleText } from '#core/extension/commands/command.ts';
import { parseDay, parseMonth, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import type { Infer } from '#core/platform/schema.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { orderQuery, readOrderFilter } from '#core/web/resources/orders.ts';
import { reconcileAction } from './actions.ts';
import { BooksCsv } from './books-csv.ts';
import { describeReconciliation } from './describe.ts';
import { monthToCsv, monthToHtml, readMonthDocument, taxTimeZone } from './month-document.ts';
import { receiptsToCsv } from './receipt-lines.ts';
import type { Reconciliation } from './reconcile.ts';

const exitCodes = exitCodesFor('account or provider');
const formatExamples = (line: string) => exampleText([line], exitCodes);

export function defineBooks(parser: Parser, context: CommandContext): void {
  defineExport(parser, context);
  defineReconcile(parser, context);
  defineMonth(parser, context);
}

function defineExport(parser: Parser, context: CommandContext): void {
  const query = { input: orderQuery };
  const command = parser
    .command('export')
    .description('print payments and finished refunds as CSV, oldest first, dated by when the money moved')
    .addOption(zoneOption());
  addActionOptions(command, query)
    .option('--no-totals', 'leave out the total line of each day and provider')
    .addHelpText(
      'after',
      `\nThe total lines (kind "total") match the provider's settlement reports. With --state, --flagged or --account there are none.${formatExamples(
        'daypass orders export --since 2026-11-01 --until 2026-11-30 > november.csv',
      )}`,
    )
    .action((options: ZoneOptions & { totals: boolean }) =>
      context.withHost(async (host) => {
        const zone = zoneOf(host, options);
        const orderInput: Infer<typeof orderQuery> = readActionInput(query, { ...options });
        const filter = await readOrderFilter(host, orderInput, zone);
        const isUnfiltered =
          orderInput.state === undefined && orderInput.flagged === undefined && orderInput.account === undefined;
        const csv = new BooksCsv(zone, options.totals && isUnfiltered);
        context.print(csv.head);
        for await (const movement of listMovements(host.database, filter))
          for (const line of csv.renderMovement(movement)) context.print(line);
        for (const line of csv.renderTotals()) context.print(line);
      }),
    );
}

function defineReconcile(parser: Parser, context: CommandContext): void {
  parser
    .command('reconcile')
    .description("compare a day's payments and refunds with the provider's books")
    .option('--json', 'print JSON')
    .addOption(zoneOption())
    .requiredOption('--day <day>', 'the day, such as 2026-11-22', parseDay)
    .option('--provider <name>', 'only this provider; default: all that had charges', parseLine)
    .addHelpText(
      'after',
      `\nMoney that only one side lists is flagged. A running gateway does this every day.${formatExamples('daypass orders reconcile --day 2026-11-22')}`,
    )
    .action((options: { day: string; provider?: string; json?: true } & ZoneOptions) =>
      context.withHost(async (host) => {
        const zone = zoneOf(host, options);
        const input = { day: options.day, provider: options.provider, time_zone: options.timeZone };
        const { result } = await runAction(host, getCommandOperator(), reconcileAction, '', input);
        const reconciliations = result['compared'] as Reconciliation[];
        const currency = host.section(currencySection);
        const lines = reconciliations.flatMap((entry) => describeReconciliation(entry, currency, zone));
        if (options.json === true) context.print(JSON.stringify(toOperatorJson(reconciliations, true), null, 2));
        else if (lines.length > 0) for (const line of lines) context.print(line);
        else
          context.print(`Nothing to compare on ${options.day}: no provider had charges, and sandboxes move no money.`);
        if (reconciliations.some(({ differences, unread }) => differences.length > 0 || unread > 0))
          throw new CommandFailed('The books differ, or could not be read in full.');
      }),
    );
}

function defineMonth(parser: Parser, context: CommandContext): void {
  parser
    .command('month')
    .description("print a month's turnover by day, for the tax office")
    .argument('<month>', 'such as 2026-11', parseMonth)
    .option('--html', 'an HTML page to print or save as PDF, instead of CSV')
    .option('--receipts', 'the receipts by number as CSV, instead of the days')
    .addOption(zoneOption().default(taxTimeZone, taxTimeZone))
    .addHelpText('after', formatExamples('daypass orders month 2026-11 --html > november.html'))
    .action((month: string, options: { html?: true; receipts?: true } & ZoneOptions) =>
      context.withHost(async (host) => {
        const document = await readMonthDocument(host, month, zoneOf(host, options));
        for (const line of formatDocument(document, options)) context.print(line);
      }),
    );
}

function formatDocument(
  document: Awaited<ReturnType<typeof readMonthDocument>>,
  { html, receipts }: { readonly html?: true; readonly receipts?: true },
): string[] {
  if (receipts === true) {
    if (document.receipts === undefined) throw new CommandFailed('This shop has stored no receipts.');
    return receiptsToCsv(document.receipts, document.timeZone, document.currency);
  }
  return html === true ? [monthToHtml(document)] : monthToCsv(document);
}
