import { type Command as Parser, Option } from 'commander';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { csvLine } from '#core/platform/csv.ts';
import { parseMonth, zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { formatTable } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { localTime } from '#core/platform/timing/time-zone.ts';

/** The most vouchers of a batch, and batches that are listed. */
const most = { vouchers: 10_000, batches: 200 };

interface CreateOptions {
  readonly days: number;
  readonly count: number;
  readonly note: string;
  readonly label?: string;
  readonly for: 'all' | 'new';
  readonly source: 'sold' | 'given';
  readonly valid: number;
}

/** `daypass voucher …`: codes that add days, for marketplaces, resellers and friends. */
export const voucherCommand: Command = {
  name: 'voucher',
  define(parser, context) {
    parser.description('create, list, export and revoke vouchers, which add days when they are redeemed');
    defineCreate(parser, context);
    defineList(parser, context);
    defineExport(parser, context);
    defineRevoke(parser, context);
    defineMonth(parser, context);
  },
};

/** What the commands do, loaded when one of them runs: MikroORM would slow all other commands down. */
async function operations() {
  const [vouchers, batches, actions] = await Promise.all([
    import('#core/business/accounts/vouchers.ts'),
    import('#core/business/accounts/voucher-batches.ts'),
    import('#core/business/operator-actions/operator-actions.ts'),
  ]);
  const { commandOperator } = await import('#core/business/operator-actions/actions.ts');
  return { ...vouchers, ...batches, ...actions, commandOperator };
}

function defineCreate(parser: Parser, context: CommandContext): void {
  parser
    .command('create')
    .description('make vouchers and print their codes, once: only digests are kept')
    .requiredOption('--days <days>', 'days that each adds, 1 to 365', parseInteger(1, 365))
    .requiredOption('--count <count>', `how many, 1 to ${most.vouchers}`, parseInteger(1, most.vouchers))
    .requiredOption('--note <text>', 'where they go, for you', parseLine)
    .option('--label <text>', 'what customers read as the name of the days', parseLine)
    .addOption(new Option('--for <accounts>', 'who may redeem them').choices(['all', 'new']).default('all'))
    .addOption(
      new Option('--source <source>', 'sold elsewhere or given away, for the books')
        .choices(['sold', 'given'])
        .default('sold'),
    )
    .option('--valid <days>', 'days until they expire, 1 to 3650', parseInteger(1, 3_650), 365)
    .addHelpText(
      'after',
      `\nThe codes go to stdout, one a line; the id of the batch goes to stderr. New accounts have neither bought days nor redeemed a voucher.

Examples:
  daypass voucher create --days 7 --count 100 --note "Tokopedia, November" > codes.txt
  daypass voucher create --days 1 --count 20 --note "meetup" --source given --for new --valid 30`,
    )
    .action((options: CreateOptions) =>
      run(context, async (host) => {
        const { createVouchers, formatCode, recordAction, commandOperator } = await operations();
        const { days, count, note, label } = options;
        const made = { days, count, note, label, isForNew: options.for === 'new', source: options.source };
        const words = `${count} × ${days} d, ${options.source}, for ${options.for} accounts: ${note}`;
        const action = {
          operator: commandOperator(),
          action: 'voucher.create',
          subject: 'vouchers',
          words: { count, days, source: options.source, for: options.for, label, note },
        } as const;
        const { batch, codes } = await recordAction(host.database, action, () =>
          createVouchers(host.database, { ...made, validDays: options.valid }),
        );
        for (const code of codes) context.print(formatCode(code));
        console.error(`batch ${batch}: ${words}`);
      }),
    );
}

function defineList(parser: Parser, context: CommandContext): void {
  parser
    .command('list')
    .description('list batches with how many vouchers are open, redeemed and revoked, the newest first')
    .addOption(zoneOption())
    .action((options: ZoneOptions) =>
      run(context, async (host) => {
        const zone = zoneOf(host, options);
        const day = (at: number) => localTime(new Date(at), zone).day;
        const batches = await (await operations()).listBatches(host.database, most.batches);
        const rows = batches.map((one) => [
          one.id,
          day(one.created_at),
          day(one.expires_at),
          `${one.days}`,
          one.source,
          one.is_for_new ? 'new' : 'all',
          `${one.open}`,
          `${one.redeemed}`,
          `${one.revoked}`,
          one.note,
        ]);
        const heading = ['batch', 'created', 'expires', 'days', 'source', 'for', 'open', 'redeemed', 'revoked', 'note'];
        for (const line of formatTable(heading, rows)) context.print(line);
      }),
    );
}

function defineExport(parser: Parser, context: CommandContext): void {
  parser
    .command('export')
    .description('print vouchers as CSV, with who redeemed them; codes by their last four characters')
    .option('--batch <id>', 'only of this batch', parseLine)
    .action((options: { batch?: string }) =>
      run(context, async (host) => {
        const { listVouchers } = await operations();
        context.print('batch,code,days,source,note,state,expires_at,redeemed_at,account,email,starts_at,ends_at');
        for await (const one of listVouchers(host.database, options.batch))
          context.print(
            csvLine([
              one.batch_id ?? undefined,
              `…${one.hint}`,
              one.days,
              one.source,
              one.note,
              one.state,
              time(one.expires_at),
              time(one.redeemed_at),
              one.account_id ?? undefined,
              one.email ?? undefined,
              time(one.starts_at),
              time(one.ends_at),
            ]),
          );
      }),
    );
}

function time(at: number | null): string | undefined {
  return at === null ? undefined : new Date(at).toISOString();
}

function defineRevoke(parser: Parser, context: CommandContext): void {
  parser
    .command('revoke')
    .description('withdraw the unredeemed codes of a batch, a single code, or that of a gift; redeemed days stay')
    .argument('<batch-or-code>', 'id of a batch, a code, or the order of a gift', parseLine)
    .requiredOption('--note <text>', 'reason, for the record', parseLine)
    .action((handle: string, { note }: { note: string }) =>
      run(context, async (host) => {
        const { commandOperator, recordAction, revokeVouchers, normalizeCode } = await operations();
        // The record names a code as exports do.
        const isCode = handle.length <= 30 && !/^ORD-/i.test(handle);
        const subject = isCode ? `…${normalizeCode(handle).slice(-4)}` : handle;
        const action = { operator: commandOperator(), action: 'voucher.revoke', subject, words: { note } } as const;
        const count = await recordAction(host.database, action, () => revokeVouchers(host.database, handle));
        context.print(`${count} revoked`);
      }),
    );
}

function defineMonth(parser: Parser, context: CommandContext): void {
  parser
    .command('month')
    .description(
      'print what was redeemed in a month by day, as CSV: sold elsewhere, given away, and gifts, apart from money',
    )
    .argument('<month>', 'such as 2026-11', parseMonth)
    .addOption(zoneOption())
    .action((month: string, options: ZoneOptions) =>
      run(context, async (host) => {
        const zone = zoneOf(host, options);
        const days = await (await operations()).readVoucherMonth(host.database, month, zone);
        context.print('day,source,vouchers,days');
        for (const one of days) context.print(csvLine([one.day, one.source, one.vouchers, one.days]));
      }),
    );
}

async function run(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  try {
    await context.withHost(work);
  } catch (error) {
    if (!(error instanceof AccountError)) throw error;
    throw new CommandFailed(error.message, 3);
  }
}
