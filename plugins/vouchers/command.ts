import type { Command as Parser } from 'commander';
import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { parseMonth, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { createAction, revokeAction, voucherDefaults, type VoucherInput } from './actions.ts';
import { batches, vouchers } from './resources.ts';
import { iterateVouchers, type ListedVoucher, listRedemptionsByDay } from './voucher-batches.ts';

export const voucherCommand: Command = {
  name: 'voucher',
  define(parser, context) {
    parser
      .description('create, list, export and revoke vouchers, which add days when they are redeemed')
      .addHelpText(
        'after',
        exampleText(
          [
            'daypass voucher create --days 7 --count 100 --note "Tokopedia, November" > codes.txt',
            'daypass voucher create --days 1 --count 20 --note "meetup" --source given --for new --valid 30',
          ],
          '',
        ),
      );
    addActionCommand(parser, context, createAction, {
      // Only codes go to stdout, so that it can be redirected to a file.
      done(_id, { batch, codes }, input) {
        const { count, days, source, for: accounts, note } = { ...voucherDefaults, ...(input as VoucherInput) };
        console.error(`batch ${String(batch)}: ${count} × ${days} d, ${source}, for ${accounts} accounts: ${note}`);
        return (codes as readonly string[]).join('\n');
      },
    });
    addListCommand(parser, context, batches, { limit: 200 });
    addListCommand(parser, context, vouchers, { verb: 'codes' });
    defineExport(parser, context);
    addActionCommand(parser, context, revokeAction, {
      handle: 'batch id, voucher code, or gift order code',
      done: (_id, { revoked }) => `${String(revoked)} revoked`,
    });
    defineMonth(parser, context);
  },
};

const formatTime = (at: Date | undefined) => at?.toISOString();

const exportColumns: Readonly<Record<string, (voucher: ListedVoucher) => string | number | undefined>> = {
  batch: ({ batchId }) => batchId,
  code: ({ hint }) => `…${hint}`,
  days: ({ days }) => days,
  source: ({ source }) => source,
  note: ({ note }) => note,
  state: ({ state }) => state,
  expires_at: ({ expiresAt }) => formatTime(expiresAt),
  redeemed_at: ({ redeemedAt }) => formatTime(redeemedAt),
  account: ({ accountId }) => accountId,
  email: ({ email }) => email,
  starts_at: ({ startsAt }) => formatTime(startsAt),
  ends_at: ({ endsAt }) => formatTime(endsAt),
};

function defineExport(parser: Parser, context: CommandContext): void {
  parser
    .command('export')
    .description('print vouchers and their redeemers as CSV, showing only the last four characters of each code')
    .option('--batch <id>', 'only vouchers in this batch', parseLine)
    .action((options: { batch?: string }) =>
      context.withHost(async ({ database }) => {
        context.print(Object.keys(exportColumns).join(','));
        for await (const voucher of iterateVouchers(database, options.batch))
          context.print(formatCsvLine(Object.values(exportColumns).map((read) => read(voucher))));
      }),
    );
}

function defineMonth(parser: Parser, context: CommandContext): void {
  parser
    .command('month')
    .description("print a month's redemptions per day and source (sold, given, gift) as CSV")
    .argument('<month>', 'such as 2026-11', parseMonth)
    .addOption(zoneOption())
    .action((month: string, options: ZoneOptions) =>
      context.withHost(async (host) => {
        const rows = await listRedemptionsByDay(host.database, month, zoneOf(host, options));
        context.print('day,source,vouchers,days');
        for (const { day, source, vouchers: count, days } of rows)
          context.print(formatCsvLine([day, source, count, days]));
      }),
    );
}
