import type { Command as Parser } from 'commander';
import { findAccountByHandle } from '#core/business/accounts/account-list.ts';
import { maxDaysAhead } from '#core/business/accounts/plans.ts';
import { note } from '#core/business/operator-actions/action-kind.ts';
import { getCoreAction } from '#core/business/operator-actions/actions.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { accountSubject } from '#core/business/operator-actions/subjects.ts';
import { type ActionCommandWords, addActionCommand } from '#core/extension/commands/action-command.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, CommandFailed, exampleText } from '#core/extension/commands/command.ts';
import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import { formatEntry, formatTables } from '#core/extension/commands/field-text.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { addShowCommand, type CommandSubject } from '#core/extension/commands/show-command.ts';
import { integer, object } from '#core/platform/schema.ts';
import {
  type AccountDetails,
  accountFacts,
  accountTables,
  readAccountDetails,
  describeAccountDetails,
  summarizeAccount,
} from '#core/web/resources/account-details.ts';
import { accounts } from '#core/web/resources/accounts.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';

const exitCodes = exitCodesFor('account');

const account: CommandSubject<AccountDetails> = {
  argument: ['account', 'id, e-mail address, name, hint or key'],
  help: 'ACCOUNT is an account id, e-mail address, name, API key, or key hint (dp-AbCd…wxyz or dp-AbCd...wxyz).',
  exitCodes,
  read: async (host, handle) => readAccountDetails(host, await findAccountByHandle(host, handle)),
  // `account` is a deprecated alias of `id`, removed in 0.7.
  toJson: (details) => ({ account: details.record.id, ...(toOperatorJson(describeAccountDetails(details)) as object) }),
  describe: describeAccount,
};

export const accountReading: OperatorReading = {
  path: '/accounts/{handle}',
  summary: 'read an account',
  async read(host, handle) {
    const details = await readAccountDetails(host, await findAccountByHandle(host, handle));
    const entry = describeAccountDetails(details);
    // `account` and `sign_ins` are deprecated aliases, removed in 0.7.
    return { account: summarizeAccount(details), signIns: entry.identities, ...entry };
  },
};

function describeAccount(details: AccountDetails, timeZone: string): string[] {
  const textOptions = { timeZone, now: details.record.readAt };
  return [
    ...formatEntry(details, accountFacts.text, textOptions, [['times', timeZone]]),
    ...formatTables(accountTables(details), textOptions),
  ];
}

const ledgerHelp = `Days are added after the last period, or from now if it has ended. They are removed from the end, never from time that has passed.
Either way the ledger gets a new entry; existing entries never change.`;

/** `needsConfirmation: false` keeps existing scripts working. */
const actionCommands = [
  [
    'account.block',
    {
      names: { note: '--reason, --note' },
      needsConfirmation: false,
      help: 'The key is rejected within a second. Streams in progress finish; paid time keeps running.',
      examples: ['daypass account block ani@example.com --note "resells the key"'],
    },
  ],
  ['account.unblock', { examples: ['daypass account unblock ani@example.com'] }],
  ['account.resume', { examples: ['daypass account resume ani@example.com --note "asked by phone"'] }],
  [
    'account.add_days',
    {
      verb: 'grant',
      help: ledgerHelp,
      examples: ['daypass account grant ani@example.com --days 3 --note "downtime of 12 May"'],
      readRequest(_host, handle, input) {
        if (input['days'] !== 0) return { handle, input };
        throw new CommandFailed(
          '--days 0 changes nothing: pass days to add, or a negative number such as -3 to remove days',
          2,
        );
      },
    },
  ],
  [
    'account.add_days',
    {
      verb: 'revoke',
      summary: "remove days from the end of an account's paid time",
      options: object(['days', 'note'], {
        days: integer({ minimum: 1, maximum: maxDaysAhead }, 'Number of days to remove.'),
        note,
      }),
      help: ledgerHelp,
      examples: ['daypass account revoke ani@example.com --days 2 --note "granted twice"'],
      readRequest: (_host, handle, { days, ...input }) => ({ handle, input: { ...input, days: -Number(days) } }),
    },
  ],
  ['account.note', {}],
  ['account.change_email', { verb: 'email' }],
  ['account.remove_sign_in', { needsConfirmation: false }],
  ['account.move_sign_in', { needsConfirmation: false }],
  [
    'account.delete',
    {
      options: object({ note }),
      help: `Removes name, e-mail address, picture, sign-ins, sessions and key, and the content and IP addresses of requests. Orders, payments
and the ledger are kept under the account's id, for bookkeeping. Remaining time is lost. If in doubt, export first.`,
      examples: ['daypass account delete ani@example.com'],
      async readRequest(host, handle, input) {
        const { id } = await accountSubject.find(host, handle);
        return { handle: id, input: { ...input, confirm: id } };
      },
    },
  ],
] as const satisfies readonly (readonly [Parameters<typeof getCoreAction>[0], ActionCommandWords])[];

/** Works while a gateway is running: PostgreSQL notifies it of every change. */
export const accountCommand: Command = {
  name: 'account',
  define(parser, context) {
    parser
      .description('find, block, export and delete accounts, and correct their days')
      .addHelpText('after', exitCodes);
    const names = { exitCodes, examples: ['daypass account list --state active --limit 20'] };
    addListCommand(parser, context, accounts, names);
    addListCommand(parser, context, accounts, { ...names, verb: 'find', examples: ['daypass account find budi'] });
    addShowCommand(parser, context, account, {
      summary: "show an account with its ledger, sessions, sign-ins, and operators' actions and notes",
      examples: ['daypass account show ani@example.com'],
    });
    for (const [name, words] of actionCommands)
      addActionCommand(parser, context, getCoreAction(name), { about: account, ...words });
    defineExport(parser, context);
  },
};

function defineExport(parser: Parser, context: CommandContext): void {
  parser
    .command('export')
    .description('print everything stored about an account as one JSON object')
    .argument('<account>', 'id, e-mail address, name, hint or key', parseLine)
    .addHelpText(
      'after',
      `\n${account.help}\nKey and session digests are left out.${exampleText(['daypass account export ani@example.com > ani.json'], exitCodes)}`,
    )
    .action((handle: string) =>
      context.withHost(async (host) => {
        const { exportAccount } = await import('#core/business/accounts/account-export.ts');
        const { id } = await accountSubject.find(host, handle);
        for await (const line of exportAccount(host.database, id)) context.print(line);
      }),
    );
}
