import type { Command } from '#core/extension/commands/command.ts';
import { type ZoneOptions, zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { formatEntries, type TextContext } from '#core/extension/commands/field-text.ts';
import { formatTable } from '#core/extension/commands/table-text.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { type PlaceCount, readSales, type SalesReport } from './sales-figures.ts';
import { formatPlan, salesDays, waits } from './views.ts';

interface Options extends ZoneOptions {
  readonly json?: true;
}

const maxPrintedWaits = 200;

export const salesCommand: Command = {
  name: 'sales',
  define(parser, context) {
    parser
      .description('print the places under each limit, the waiting list, and the limits of the last 28 days')
      .option('--json', 'print JSON')
      .addOption(zoneOption())
      .addHelpText('after', '\nLimits come from sales: { max_active } and the max_active of each plan in gateway.yaml.')
      .action((options: Options) =>
        context.withHost(async (host) => {
          const report = await readSales(host);
          if (options.json === true) return context.print(JSON.stringify(toOperatorJson(report, true), null, 2));
          const text = { timeZone: zoneOf(host, options), now: host.now() };
          for (const line of describeReport(report, text)) context.print(line);
        }),
      );
  },
};

function* describeReport({ places, waiting, days }: SalesReport, text: TextContext): Generator<string> {
  if (places.length === 0) yield 'no limit: set sales: { max_active } in gateway.yaml';
  else yield* formatTable(placesHeading, places.map(describePlacesRow), { numericColumns: [1, 2, 3, 4, 5, 6, 7, 8] });
  if (waiting.length > 0) yield '';
  yield* formatEntries(waiting.slice(0, maxPrintedWaits), waits.text, text, { numericColumns: [0] });
  if (waiting.length > maxPrintedWaits) yield `${waiting.length - maxPrintedWaits} more: --json`;
  if (days.length > 0) yield '';
  yield* formatEntries(days, salesDays.text, text, { numericColumns: [2, 3, 4, 5] });
}

const placesHeading = ['plan', 'limit', 'held', 'bought', 'paid late', 'given', 'ordered', 'reserved', 'waiting'];

function describePlacesRow(count: PlaceCount): string[] {
  const { max, held, byKind, waiting } = count;
  const { bought, late, given, ordered, reserved } = byKind;
  return [formatPlan(count), ...[max, held, bought, late, given, ordered, reserved, waiting].map(String)];
}
