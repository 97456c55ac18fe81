import type { Command as Parser } from 'commander';
import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { addListOptions, type ListOptions, printList, readListQuery } from '#core/extension/commands/list-command.ts';
import { formatTable } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { creditAction, declineAction, grantAction, type GrantInput } from './actions.ts';
import { type ConfirmedOutage, findOutage, previewCredit } from './credit.ts';
import { listWitnesses } from './evidence.ts';
import { findAffectedAccounts, type OutageResult, parseOutage } from './grant.ts';
import { formatMinutes, outages } from './resource.ts';

export function defineOutageGrant(parser: Parser, context: CommandContext): void {
  addActionCommand(parser, context, grantAction, {
    verb: 'grant-outage',
    needsConfirmation: true,
    async readRequest(host, handle, input) {
      const { days, label, ...span } = input as GrantInput;
      const affected = await findAffectedAccounts(host.database, await parseOutage(host, span));
      if (affected.length === 0) throw new CommandFailed('No account is affected.', 3);
      const rows = affected.map(({ id, name, email = '' }) => [id, name, email]);
      const question = [`Grant ${days} d to these ${affected.length} accounts as "${label}"?`];
      return { handle, input, facts: formatTable(['account', 'name', 'e-mail'], rows), question };
    },
    done(_id, result) {
      const { granted, skipped, failed } = result as unknown as OutageResult;
      return `granted ${granted}, already had them ${skipped}, failed ${failed.length}`;
    },
    failure(result) {
      const { failed } = result as unknown as OutageResult;
      return failed.map(({ account, message }) => `${account}: ${message}`).join('\n') || undefined;
    },
  });
}

export function defineOutageCredit(parser: Parser, context: CommandContext): void {
  const command = parser
    .command('credit-outage')
    .description('list outages and the time to credit, or credit one now')
    .argument('[outage]', 'outage id; without one, outages are listed', parseLine)
    .option('--decline <reason>', 'decline to credit it, and record this reason', parseLine)
    .option('--yes', 'do not ask');
  addListOptions(command, outages).action((outageId: string | undefined, options: CreditOptions) =>
    context.withHost(async (host) => {
      if (outageId !== undefined) return decideOutage(context, host, outageId, options);
      if (options.decline !== undefined)
        throw new CommandFailed('Name the outage to decline, or leave out --decline to list them.', 2);
      await printList(context, host, outages, await readListQuery(host, outages, options), options);
    }),
  );
}

interface CreditOptions extends ListOptions {
  readonly decline?: string;
  readonly yes?: true;
}

async function decideOutage(
  context: CommandContext,
  host: Host,
  outageId: string,
  { decline, yes, json }: CreditOptions,
): Promise<void> {
  const outage = await findOutage(host.database, outageId);
  const done = (result: object, text: string) =>
    context.print(json ? JSON.stringify(toOperatorJson({ outage: outage.id, ...result }), null, 2) : text);
  if (decline !== undefined) {
    if (yes !== true) await confirm([`Decline to credit the outage of ${outage.model}, ${outage.from.toISOString()}?`]);
    const input = { outage: outage.id, note: decline };
    await runAction(host, getCommandOperator(), declineAction, '', input);
    return done({}, 'declined: the time of this outage is not credited');
  }
  const { accounts, seconds } = await previewCredit(host, outage);
  if (accounts === 0 && outage.creditedAt !== undefined)
    return done({ accounts, seconds }, 'its time has already been given back');
  if (!json) await printWitnesses(context, host, outage);
  if (yes !== true) await confirm([`Give ${formatMinutes(seconds * 1_000)} back to ${accounts} accounts?`]);
  const { result } = await runAction(host, getCommandOperator(), creditAction, '', { outage: outage.id });
  done(result, `${String(result['accounts'])} accounts got their time back`);
}

/** Lets the operator check that the right accounts get time back. */
async function printWitnesses(context: CommandContext, host: Host, outage: ConfirmedOutage): Promise<void> {
  const witnesses = await listWitnesses(host.database, outage, 20);
  const rows = witnesses.map(({ accountId, failures, hadEarlierFailures }) => [
    accountId,
    String(failures),
    hadEarlierFailures ? 'yes' : 'no',
  ]);
  if (rows.length > 0)
    for (const line of formatTable(['account', 'failed requests', 'earlier failures'], rows)) context.print(line);
}
