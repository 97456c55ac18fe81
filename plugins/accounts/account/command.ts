import { type Command as Parser, Option } from 'commander';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import type { AccountQuery, AccountState } from '#core/business/accounts/account-list.ts';
import { maxDaysAhead } from '#core/business/accounts/plans.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, CommandFailed, exampleText } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { coreAction, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import { type AccountDetails, describeAccount, describeList, summaryToJson, toJson } from './describe.ts';

interface Output extends ZoneOptions {
  readonly json?: true;
}

const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 account not found.`;

const examples = (lines: readonly string[]): string => exampleText(lines, exitCodes);

const handles = `
ACCOUNT is an account id, e-mail address, name, API key, or key hint (dp-AbCd…wxyz or dp-AbCd...wxyz).`;

const states: readonly AccountState[] = ['active', 'inactive', 'blocked', 'deleted'];

/** `daypass account …`: for the operator. Works beside a running gateway, which PostgreSQL notifies of every change. */
export const accountCommand: Command = {
  name: 'account',
  define(parser, context) {
    parser
      .description('find, block, export and delete accounts, and correct their days')
      .addHelpText('after', exitCodes);
    defineList(parser, context);
    defineFind(parser, context);
    defineShow(parser, context);
    defineBlock(parser, context);
    defineUnblock(parser, context);
    defineGrant(parser, context);
    defineRevoke(parser, context);
    for (const [name, action] of plainActions) defineAction(parser, context, name, action);
    defineExport(parser, context);
    defineDelete(parser, context);
  },
};

/** Commands that follow from the description of their action. */
const plainActions = [
  ['note', 'account.note'],
  ['email', 'account.change_email'],
  ['remove-sign-in', 'account.remove_sign_in'],
  ['move-sign-in', 'account.move_sign_in'],
] as const;

const operations = () => import('./operations.ts');

function defineList(parser: Parser, context: CommandContext): void {
  pageCommand(parser, 'list', 'list accounts, the newest first')
    .addOption(new Option('--state <state>', 'only accounts in this state').choices(states))
    .addHelpText('after', examples(['daypass account list --state active --limit 20']))
    .action((options: PageOptions & { state?: AccountState }) => printList(context, options, options));
}

function defineFind(parser: Parser, context: CommandContext): void {
  pageCommand(parser, 'find', 'search by a part of name or e-mail address, by id or key hint')
    .argument('<words>', 'what to search for', parseLine)
    .addHelpText('after', examples(['daypass account find budi', 'daypass account find @example.com']))
    .action((words: string, options: PageOptions) => printList(context, options, { ...options, words }));
}

function defineShow(parser: Parser, context: CommandContext): void {
  accountCommandOf(
    parser,
    'show',
    'show an account with its ledger, sessions, ways to sign in, and what operators did and noted',
  )
    .addHelpText('after', handles + examples(['daypass account show ani@example.com']))
    .action((account: string, options: Output) =>
      run(context, options, async (host) => (await operations()).readDetails(host, account)),
    );
}

function defineBlock(parser: Parser, context: CommandContext): void {
  accountCommandOf(parser, 'block', 'refuse an account, end its sessions and prevent its sign-in')
    .requiredOption('--reason, --note <text>', 'for the operator; its owner does not see it', parseLine)
    .addHelpText(
      'after',
      `${handles}\nThe key is refused within a second. Answers that are being streamed finish; paid time runs on.${examples(['daypass account block ani@example.com --note "resells the key"'])}`,
    )
    .action((account: string, options: { note: string } & Output) =>
      change(context, options, account, 'account.block', { note: options.note }),
    );
}

function defineUnblock(parser: Parser, context: CommandContext): void {
  accountCommandOf(parser, 'unblock', 'serve a blocked account again, with the same key')
    .addHelpText('after', handles + examples(['daypass account unblock ani@example.com']))
    .action((account: string, options: Output) => change(context, options, account, 'account.unblock', {}));
}

function defineGrant(parser: Parser, context: CommandContext): void {
  accountCommandOf(parser, 'grant', 'add days to an account, or take days back with a negative number')
    .requiredOption(
      '--days <days>',
      `days to add, up to ${maxDaysAhead}; -3 takes three back`,
      parseInteger(-maxDaysAhead, maxDaysAhead),
    )
    .requiredOption('--note <text>', 'reason, kept in the ledger', parseLine)
    .option('--label <text>', 'name of the period in GET /v1/key; default: its days', parseLine)
    .addHelpText(
      'after',
      handles + ledgerHelp + examples(['daypass account grant ani@example.com --days 3 --note "downtime of 12 May"']),
    )
    .action((account: string, options: { days: number; note: string; label?: string } & Output) => {
      if (options.days === 0)
        throw new CommandFailed('--days 0 changes nothing: pass days to add, or -3 to take three back', 2);
      const { days, note, label } = options;
      return change(context, options, account, 'account.add_days', { days, label, note });
    });
}

function defineRevoke(parser: Parser, context: CommandContext): void {
  accountCommandOf(parser, 'revoke', 'take days back from the end of what an account has')
    .requiredOption('--days <days>', `days to take, 1 to ${maxDaysAhead}`, parseInteger(1, maxDaysAhead))
    .requiredOption('--note <text>', 'reason, kept in the ledger', parseLine)
    .addHelpText(
      'after',
      handles + ledgerHelp + examples(['daypass account revoke ani@example.com --days 2 --note "granted twice"']),
    )
    .action((account: string, { days, ...options }: { days: number; note: string } & Output) =>
      change(context, options, account, 'account.add_days', { days: -days, note: options.note }),
    );
}

const ledgerHelp = `
Days are added at the end of the last period, or from now if it has ended. They are taken back from the end, never from time that
has passed. Both are entries of the ledger: nothing in it is changed.`;

function defineExport(parser: Parser, context: CommandContext): void {
  parser
    .command('export')
    .description('print all that is stored about an account, as one JSON object')
    .argument('<account>', 'id, e-mail address, name, hint or key', parseLine)
    .addHelpText(
      'after',
      `${handles}\nDigests of keys and sessions are left out.${examples(['daypass account export ani@example.com > ani.json'])}`,
    )
    .action((account: string) =>
      explainErrors(
        context.withHost(async (host) => {
          const { exportAccount, findAccountByHandle } = await operations();
          const { id } = await findAccountByHandle(host, account);
          for await (const line of exportAccount(host.database, id)) context.print(line);
        }),
      ),
    );
}

function defineDelete(parser: Parser, context: CommandContext): void {
  accountCommandOf(parser, 'delete', 'remove what is personal of an account, for good')
    .option('--note <text>', 'why, for the record', parseLine)
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `${handles}\nName, e-mail address, picture, ways to sign in, sessions, key, and content and addresses of requests are removed. Orders,
payments and the ledger stay under the account's id, for bookkeeping. Time that is left is lost. Export first if in doubt.${examples(['daypass account delete ani@example.com'])}`,
    )
    .action((account: string, options: { note?: string; yes?: true } & Output) =>
      run(context, options, async (host) => {
        const { readDetails } = await operations();
        const details = await readDetails(host, account);
        const { id } = details.record;
        if (options.yes !== true)
          await confirm([...describeAccount(details, zoneOf(host, options)), '', 'Delete this account?']);
        await act(host, 'account.delete', id, { confirm: id, note: options.note });
        return readDetails(host, id);
      }),
    );
}

interface PageOptions extends Output {
  readonly limit: number;
  readonly after?: string;
}

function pageCommand(parser: Parser, name: string, description: string): Parser {
  return parser
    .command(name)
    .description(description)
    .option('--limit <accounts>', 'accounts to list, 1 to 1000', parseInteger(1, 1_000), 50)
    .option('--after <id>', 'continue after this account', parseLine)
    .option('--json', 'print JSON')
    .addOption(zoneOption());
}

function accountCommandOf(parser: Parser, name: string, description: string): Parser {
  return parser
    .command(name)
    .description(description)
    .argument('<account>', 'id, e-mail address, name, hint or key', parseLine)
    .option('--json', 'print JSON')
    .addOption(zoneOption());
}

async function printList(context: CommandContext, output: Output, query: AccountQuery): Promise<void> {
  const { accounts, zone } = await explainErrors(
    context.withHost(async (host) => ({
      accounts: await (await operations()).listAccounts(host.database, query),
      zone: zoneOf(host, output),
    })),
  );
  if (output.json === true) return context.print(JSON.stringify(accounts.map(summaryToJson), null, 2));
  for (const line of describeList(accounts, zone)) context.print(line);
  const last = accounts.at(-1);
  if (last !== undefined && accounts.length === query.limit) context.print(`\nmore: --after ${last.id}`);
}

function defineAction(
  parser: Parser,
  context: CommandContext,
  name: string,
  action: (typeof plainActions)[number][1],
): void {
  const kind: ActionKind = coreAction(action);
  addActionOptions(accountCommandOf(parser, name, kind.summary), kind)
    .addHelpText('after', `${handles}\nIt is recorded with the reason and the user of this machine.${exitCodes}`)
    .action((account: string, options: Output) =>
      change(context, options, account, action, readActionInput(kind, { ...options })),
    );
}

type ActionName = Parameters<typeof coreAction>[0];

/** Does an action, and records that it was done here. */
async function act(host: Host, action: ActionName, id: string, input: ActionWords): Promise<void> {
  await runAction(host, commandOperator(), coreAction(action) as ActionKind, id, input);
}

/** Does an action on an account and prints the account. */
function change(
  context: CommandContext,
  output: Output,
  handle: string,
  action: ActionName,
  input: ActionWords,
): Promise<void> {
  return run(context, output, async (host) => {
    const { findAccountByHandle, readDetails } = await operations();
    const { id } = await findAccountByHandle(host, handle);
    await act(host, action, id, input);
    return readDetails(host, id);
  });
}

async function run(
  context: CommandContext,
  output: Output,
  work: (host: Host) => Promise<AccountDetails>,
): Promise<void> {
  const { details, zone } = await explainErrors(
    context.withHost(async (host) => ({
      details: await work(host),
      zone: zoneOf(host, output),
    })),
  );
  if (output.json === true) context.print(JSON.stringify(toJson(details), null, 2));
  else for (const line of describeAccount(details, zone)) context.print(line);
}
