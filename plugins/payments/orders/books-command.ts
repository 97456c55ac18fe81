import type { Command as Parser } from 'commander';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { parseDay, parseMonth, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { coreAction, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { taxTimeZone } from '#core/business/payments/month-document.ts';
import type { Reconciliation } from '#core/business/payments/reconcile.ts';
import type { FilterOptions } from './operations.ts';
import { examples, filtered, operations, type Output, subcommand, withHost } from './subcommand.ts';

/** `daypass orders export`, `reconcile` and `month`: what bookkeeping needs. */
export function defineBooks(parser: Parser, context: CommandContext): void {
  defineExport(parser, context);
  defineReconcile(parser, context);
  defineMonth(parser, context);
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
        ['daypass orders export --since 2026-11-01 --until 2026-11-30 > november.csv'],
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
        'daypass orders reconcile --day 2026-11-22',
      ])}`,
    )
    .action((options: { day: string; provider?: string } & Output) =>
      withHost(context, async (host) => {
        const { currencyOf, describeReconciliation } = await operations();
        const zone = zoneOf(host, options);
        const words = { day: options.day, provider: options.provider, time_zone: options.timeZone };
        const { result } = await runAction(host, commandOperator(), coreAction('books.reconcile'), '', words);
        const found = result['compared'] as Reconciliation[];
        if (options.json === true) context.print(JSON.stringify(found, null, 2));
        else if (found.length === 0)
          context.print(`Nothing to compare on ${options.day}: no provider had charges, and a sandbox moves no money.`);
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
    .addOption(zoneOption().default(taxTimeZone, taxTimeZone))
    .addHelpText('after', examples(['daypass orders month 2026-11 --html > november.html']))
    .action((month: string, options: { html?: true } & ZoneOptions) =>
      withHost(context, async (host) => {
        const { currencyOf, monthToCsv, monthToHtml, readMonth } = await operations();
        const [currency, timeZone] = [currencyOf(host), zoneOf(host, options)];
        const days = await readMonth(host.database, { month, timeZone, currency });
        const madeAt = new Date(host.now());
        const document = { seller: host.service.name, month, timeZone, currency, days, madeAt };
        for (const line of options.html === true ? [monthToHtml(document)] : monthToCsv(document)) context.print(line);
      }),
    );
}
