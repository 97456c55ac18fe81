import type { Command as Parser } from 'commander';
import { coreAction, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { CustomerMail } from '#core/business/mail/mails.ts';
import { accountSubject, orderSubject } from '#core/business/operator-actions/subjects.ts';
import { addActionOptions, readActionInput } from '#core/extension/commands/action-options.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { zoneOf, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';

const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 mail, account or order not found.`;

interface Output extends ZoneOptions {
  readonly json?: true;
}

interface ListOptions extends Output {
  readonly account?: string;
  readonly order?: string;
  readonly undelivered?: true;
  readonly limit: number;
}

/** `daypass mail …`: for the operator. Works beside a running gateway, which sends the mails. */
export const mailCommand: Command = {
  name: 'mail',
  define(parser, context) {
    parser.description('list mails to customers, and send one again').addHelpText('after', exitCodes);
    defineList(parser, context);
    defineSendAgain(parser, context);
  },
};

function defineList(parser: Parser, context: CommandContext): void {
  parser
    .command('list')
    .description('list mails to customers with their outcome, the newest first')
    .option('--account <account>', 'of this account: id, e-mail address, name, hint or key', parseLine)
    .option('--order <order>', 'about this order: code or id', parseLine)
    .option('--undelivered', 'only those of the last week that did not arrive, or perhaps did not')
    .option('--limit <mails>', 'mails to list, 1 to 1000', parseInteger(1, 1_000), 50)
    .option('--json', 'print JSON')
    .addOption(zoneOption())
    .addHelpText(
      'after',
      exampleText(['daypass mail list --undelivered', 'daypass mail list --order ORD-7F3K2MQX'], exitCodes),
    )
    .action((options: ListOptions) =>
      withHost(context, async (host) => {
        const mails = await readMails(host, options);
        if (options.json === true) return context.print(JSON.stringify({ mails }, null, 2));
        for (const line of describeMails(mails, zoneOf(host, options))) context.print(line);
      }),
    );
}

function defineSendAgain(parser: Parser, context: CommandContext): void {
  const kind = coreAction('mail.send_again');
  addActionOptions(parser.command('send-again').description(kind.summary), kind)
    .argument('<mail>', 'id of the mail (daypass mail list)', parseLine)
    .option('--json', 'print JSON')
    .addHelpText('after', exampleText(['daypass mail send-again 4711 --note "mailbox was full"'], exitCodes))
    .action((id: string, options: Output) =>
      withHost(context, async (host) => {
        const { subject } = await runAction(host, commandOperator(), kind, id, readActionInput(kind, { ...options }));
        context.print(
          options.json === true ? JSON.stringify({ mail: subject.id }) : `mail ${subject.id} is sent again`,
        );
      }),
    );
}

/** @throws AccountError, CheckoutError */
async function readMails(host: Host, { account, order, undelivered, limit }: ListOptions): Promise<CustomerMail[]> {
  const { listMails } = await import('#core/business/mail/mails.ts');
  return listMails(
    host.database,
    {
      ...(account !== undefined && { accountId: (await accountSubject.find(host, account)).id }),
      ...(order !== undefined && { orderId: (await orderSubject.find(host, order)).id }),
      isUndelivered: undelivered === true,
    },
    limit,
  );
}

function describeMails(mails: readonly CustomerMail[], timeZone: string): string[] {
  if (mails.length === 0) return ['No mail found.'];
  return formatTable(
    ['mail', `created (${timeZone})`, 'about', 'order or account', 'state', 'tries', 'error'],
    mails.map(({ id, createdAt, event, order, accountId, state, tries, error = '' }) => [
      id,
      formatTime(createdAt, timeZone),
      event,
      order ?? accountId,
      state,
      String(tries),
      error,
    ]),
  );
}

function withHost(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  return explainErrors(context.withHost(work));
}
