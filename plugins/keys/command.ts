import type { Command as Parser } from 'commander';
import { maxDaysAhead } from '#core/business/accounts/plans.ts';
import { parseEmail, parseLine, parseInteger } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, CommandFailed, exampleText } from '#core/extension/commands/command.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { describeAccountForJson, type LimitOptions, readLimits, renderFields, type ShownAccount } from './show.ts';

interface Output {
  readonly json?: true;
}

const exitCodes = exitCodesFor('account');

const formatExamples = (lines: readonly string[]): string => exampleText(lines, exitCodes);

const handleHelp = `
ACCOUNT is an account id, e-mail address, API key, or key hint (dp-AbCd…wxyz or dp-AbCd...wxyz).`;

/** Works while a gateway is running: PostgreSQL notifies it of every change. */
export const keyCommand: Command = {
  name: 'key',
  define(parser, context) {
    parser.description('create, show, rotate and limit API keys, and grant days').addHelpText('after', exitCodes);
    defineCreate(parser, context);
    defineShow(parser, context);
    defineRotate(parser, context);
    defineLimit(parser, context);
    defineGrant(parser, context);
  },
};

/** Imported on demand: MikroORM would slow down all other commands. */
async function loadAccountFunctions() {
  const [keys, all, ledger] = await Promise.all([
    import('#core/business/accounts/account-key.ts'),
    import('#core/business/accounts/accounts.ts'),
    import('#core/business/accounts/ledger.ts'),
  ]);
  return { ...keys, ...all, ...ledger };
}

function defineCreate(parser: Parser, context: CommandContext): void {
  addLimitOptions(
    subcommand(parser, 'create', 'create an account and print its key, once')
      .requiredOption('--name <name>', 'account name', parseLine)
      .option('--email <address>', 'e-mail address', parseEmail)
      .option('--days <days>', `days of access, 1 to ${maxDaysAhead}`, parseInteger(1, maxDaysAhead)),
  )
    .addHelpText(
      'after',
      formatExamples([
        'daypass key create --name "Ani" --email ani@example.com --days 30',
        'daypass key create --name "batch jobs" --days 7 --limit 600 --period 60 --concurrent 4 --json',
      ]),
    )
    .action((options: { name: string; email?: string; days?: number } & LimitOptions & Output) =>
      printAccount(context, options, async (host) => {
        const { name, email, days } = options;
        const limits = readLimits(options);
        const period = days === undefined ? undefined : { days, reason: 'grant' as const, note: 'key create' };
        const { createAccount } = await loadAccountFunctions();
        const created = await createAccount(host.database, host.service.prefix, { name, email, limits, period });
        return { ...(await readShownAccount(host, created.accountId)), key: created.key };
      }),
    );
}

function defineShow(parser: Parser, context: CommandContext): void {
  accountSubcommand(parser, 'show', 'show an account with its plan and limits')
    .addHelpText(
      'after',
      handleHelp + formatExamples(['daypass key show ani@example.com', 'daypass key show dp-AbCd...wxyz']),
    )
    .action((account: string, options: Output) =>
      printAccount(context, options, (host) => readShownAccount(host, account)),
    );
}

function defineRotate(parser: Parser, context: CommandContext): void {
  accountSubcommand(parser, 'rotate', "replace an account's key and print the new one, once")
    .addHelpText(
      'after',
      `${handleHelp}\nThe old key is rejected within a second.${formatExamples(['daypass key rotate ani@example.com'])}`,
    )
    .action((account: string, options: Output) =>
      printAccount(context, options, async (host) => {
        const { findAccount, rotateKey } = await loadAccountFunctions();
        const { id } = await findAccount(host.database, account);
        const { key } = await rotateKey(host.database, host.service.prefix, id);
        return { ...(await readShownAccount(host, id)), key };
      }),
    );
}

function defineLimit(parser: Parser, context: CommandContext): void {
  addLimitOptions(accountSubcommand(parser, 'limit', 'set limits for one account'))
    .option('--reset', "remove the account's own limits, so that those in gateway.yaml apply again")
    .addHelpText(
      'after',
      handleHelp +
        formatExamples([
          'daypass key limit ani@example.com --limit 600 --period 60',
          'daypass key limit ani@example.com --reset',
        ]),
    )
    .action((account: string, options: { reset?: true } & LimitOptions & Output) => {
      const limits = readLimits(options);
      if (options.reset === true && limits !== undefined) failUsage('--reset cannot be combined with other limits');
      if (options.reset === undefined && limits === undefined) {
        failUsage('Nothing to change: pass --limit, --period, --burst, --concurrent, --weight or --reset');
      }
      return printAccount(context, options, async (host) => {
        const { findAccount, changeLimits } = await loadAccountFunctions();
        const { id } = await findAccount(host.database, account);
        await changeLimits(host.database, id, limits ?? null);
        return readShownAccount(host, id);
      });
    });
}

function defineGrant(parser: Parser, context: CommandContext): void {
  accountSubcommand(parser, 'grant', 'add days to an account; recorded in the ledger')
    .requiredOption('--days <days>', `days to add, 1 to ${maxDaysAhead}`, parseInteger(1, maxDaysAhead))
    .requiredOption('--note <text>', 'reason, kept in the ledger', parseLine)
    .option('--label <text>', 'name of the period in GET /v1/key; default: its length in days', parseLine)
    .addHelpText(
      'after',
      `${handleHelp}\nThe days start when the last period ends, or now if it has ended. An account can have at most ${maxDaysAhead} days ahead.` +
        formatExamples(['daypass key grant ani@example.com --days 3 --note "downtime of 12 May"']),
    )
    .action((account: string, options: { days: number; note: string; label?: string } & Output) =>
      printAccount(context, options, async (host) => {
        const { findAccount, grantDays } = await loadAccountFunctions();
        const { id } = await findAccount(host.database, account);
        const { days, note, label } = options;
        await grantDays(host.database, id, { days, note, label });
        return readShownAccount(host, id);
      }),
    );
}

function subcommand(parser: Parser, name: string, description: string): Parser {
  return parser.command(name).description(description).option('--json', 'print JSON');
}

function accountSubcommand(parser: Parser, name: string, description: string): Parser {
  return subcommand(parser, name, description).argument('<account>', 'id, e-mail address, hint or key', parseLine);
}

function addLimitOptions(parser: Parser): Parser {
  return parser
    .option('--limit <requests>', 'requests per period', parseInteger(1, 1_000_000))
    .option('--period <seconds>', 'length of the period in seconds', parseInteger(1, 86_400))
    .option('--burst <requests>', 'requests that may be sent at once after a pause', parseInteger(1, 1_000_000))
    .option('--concurrent <requests>', 'requests in flight at the same time', parseInteger(1, 100_000))
    .option('--weight <share>', 'weight at a full upstream; other accounts have 1', parseInteger(1, 100));
}

async function readShownAccount(host: Host, handle: string): Promise<ShownAccount> {
  const { findAccount } = await loadAccountFunctions();
  return { record: await findAccount(host.database, handle) };
}

async function printAccount(
  context: CommandContext,
  { json }: Output,
  work: (host: Host) => Promise<ShownAccount>,
): Promise<void> {
  const account = await context.withHost(work);
  if (json === true) context.print(JSON.stringify(describeAccountForJson(account), null, 2));
  else for (const line of renderFields(account)) context.print(line);
}

function failUsage(message: string): never {
  throw new CommandFailed(message, 2);
}
