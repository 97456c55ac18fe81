import type { Command } from '#core/extension/commands/command.ts';
import { type ZoneOptions, zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import type { PlaceCount, SalesReport } from './sales-figures.ts';

interface Options extends ZoneOptions {
  readonly json?: true;
}

/** `daypass sales`: places, waiting list, and past limits. Runs next to a gateway. */
export const salesCommand: Command = {
  name: 'sales',
  define(parser, context) {
    parser
      .description('print the places under each limit, the waiting list, and the limits of the last 28 days')
      .option('--json', 'print JSON')
      .addOption(zoneOption())
      .addHelpText('after', '\nLimits are sales: { max_active } and max_active of plans in gateway.yaml.')
      .action((options: Options) =>
        context.withHost(async (host) => {
          // Imported on use: loading MikroORM would slow down every other command.
          const { readSales } = await import('./sales-figures.ts');
          const report = await readSales(host);
          if (options.json === true) return context.print(JSON.stringify(toOperatorJson(report, true), null, 2));
          const zone = zoneOf(host, options);
          for (const line of describeReport(report, (at) => formatTime(at, zone, true))) context.print(line);
        }),
      );
  },
};

function* describeReport({ places, waiting, days }: SalesReport, time: (at: Date) => string): Generator<string> {
  if (places.length === 0) yield 'no limit: set sales: { max_active } in gateway.yaml';
  else yield* formatTable(placesHeading, places.map(describePlacesRow), { numericColumns: [1, 2, 3, 4, 5, 6, 7, 8] });
  if (waiting.length > 0) {
    yield '';
    const rows = waiting.map(({ accountId, days: plan, joinedAt, position, reservedUntil, isOrdered }) => [
      position === 0 ? '' : String(position),
      accountId,
      formatPlanName(plan),
      time(joinedAt),
      reservedUntil === undefined ? 'waits' : isOrdered ? 'ordered' : `reserved until ${time(reservedUntil)}`,
    ]);
    yield* formatTable(['', 'account', 'plan', 'since', 'state'], rows, { numericColumns: [0] });
  }
  if (days.length === 0) return;
  yield '';
  const rows = days.map((row) => [
    row.day,
    formatPlanName(row.days),
    ...[row.max, row.held, row.late, row.waiting].map(String),
  ]);
  yield* formatTable(['day', 'plan', 'limit', 'held', 'paid late', 'waiting'], rows, { numericColumns: [2, 3, 4, 5] });
}

const placesHeading = ['plan', 'limit', 'held', 'bought', 'paid late', 'given', 'ordered', 'reserved', 'waiting'];

function describePlacesRow({ days, max, held, byKind, waiting }: PlaceCount): string[] {
  const { bought, late, given, ordered, reserved } = byKind;
  return [formatPlanName(days), ...[max, held, bought, late, given, ordered, reserved, waiting].map(String)];
}

function formatPlanName(days: number | undefined): string {
  return days === undefined ? 'all' : `${days} d`;
}
