import type { Command as Parser } from 'commander';
import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { parseMonth, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { formatCsvLine } from '#core/platform/csv.ts';
import { createAction, revokeAction, type VoucherInput } from './actions.ts';
import { batches, vouchers } from './resources.ts';
import { iterateVouchers, readVoucherMonth } from './voucher-batches.ts';

/** `daypass voucher …`: codes that add days, for marketplaces, resellers and friends. */
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
      // Prints only codes to stdout, so that they can be redirected to a file.
      done(_id, { batch, codes }, input) {
        const { count, days, source = 'sold', for: accounts = 'all', note } = input as VoucherInput;
        console.error(`batch ${String(batch)}: ${count} × ${days} d, ${source}, for ${accounts} accounts: ${note}`);
        return (codes as readonly string[]).join('\n');
      },
    });
    addListCommand(parser, context, batches, { limit: 200 });
    addListCommand(parser, context, vouchers, { verb: 'codes' });
    defineExport(parser, context);
    addActionCommand(parser, context, revokeAction, {
      handle: 'id of a batch, a code, or the order of a gift',
      done: (_id, { revoked }) => `${String(revoked)} revoked`,
    });
    defineMonth(parser, context);
  },
};

const formatTime = (at: Date | undefined) => at?.toISOString();

function defineExport(parser: Parser, context: CommandContext): void {
  parser
    .command('export')
    .description('print vouchers as CSV, with who redeemed them; codes by their last four characters')
    .option('--batch <id>', 'only of this batch', parseLine)
    .action((options: { batch?: string }) =>
      context.withHost(async ({ database }) => {
        context.print('batch,code,days,source,note,state,expires_at,redeemed_at,account,email,starts_at,ends_at');
        for await (const voucher of iterateVouchers(database, options.batch))
          context.print(
            formatCsvLine([
              voucher.batchId,
              `…${voucher.hint}`,
              voucher.days,
              voucher.source,
              voucher.note,
              voucher.state,
              formatTime(voucher.expiresAt),
              formatTime(voucher.redeemedAt),
              voucher.accountId,
              voucher.email,
              formatTime(voucher.startsAt),
              formatTime(voucher.endsAt),
            ]),
          );
      }),
    );
}

function defineMonth(parser: Parser, context: CommandContext): void {
  parser
    .command('month')
    .description('print the redemptions of a month by day, as CSV: sold elsewhere, given away, and gifts')
    .argument('<month>', 'such as 2026-11', parseMonth)
    .addOption(zoneOption())
    .action((month: string, options: ZoneOptions) =>
      context.withHost(async (host) => {
        const days = await readVoucherMonth(host.database, month, zoneOf(host, options));
        context.print('day,source,vouchers,days');
        for (const { day, source, vouchers: count, days: added } of days)
          context.print(formatCsvLine([day, source, count, added]));
      }),
    );
}
