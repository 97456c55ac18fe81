import type { Command as Parser } from 'commander';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { commandOperator } from '#core/business/operator-actions/actions.ts';
import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import {
  parseTime,
  resolveTime,
  type WrittenTime,
  zoneOf,
  type ZoneOptions,
  zoneOption,
} from '#core/extension/commands/days.ts';
import { formatTable } from '#core/extension/commands/table-text.ts';
import type { Host } from '#core/gateway/host/host.ts';

interface OutageOptions extends ZoneOptions {
  readonly since: WrittenTime;
  readonly until: WrittenTime;
  readonly model?: string;
  readonly days: number;
  readonly note: string;
  readonly label: string;
  readonly yes?: true;
}

/** `gateway account grant-outage`: days for everyone whom an outage has hit. */
export function defineOutageGrant(parser: Parser, context: CommandContext): void {
  parser
    .command('grant-outage')
    .description('grant days to all accounts that had paid time in a span, or used a model in it')
    .requiredOption('--since <time>', 'beginning of the span, such as 2026-11-22T13:00Z or 6h', parseTime)
    .requiredOption('--until <time>', 'end of the span', parseTime)
    .option('--model <model>', 'only accounts that requested this model in it', parseLine)
    .requiredOption('--days <days>', 'days to add, 1 to 30', parseInteger(1, 30))
    .requiredOption('--note <text>', 'reason, kept in the ledger; an account gets the days once for a note', parseLine)
    .requiredOption('--label <text>', 'what customers read as the name of these days', parseLine)
    .option('--yes', 'do not ask; without it, the accounts are listed first')
    .addOption(zoneOption())
    .action((options: OutageOptions) => context.withHost((host) => grantAll(context, host, options)));
}

async function grantAll(context: CommandContext, host: Host, options: OutageOptions): Promise<void> {
  const { findAffected, grantForOutage } = await import('#core/business/accounts/outage-grant.ts');
  const zone = zoneOf(host, options);
  const [since, until] = [await resolveTime(host, options.since, zone), await resolveTime(host, options.until, zone)];
  if (since >= until) throw new CommandFailed('--since must be before --until.', 2);
  const { model, days, note, label } = options;
  const affected = await findAffected(host.database, { since, until, model });
  for (const line of formatTable(
    ['account', 'name', 'e-mail'],
    affected.map(({ id, name, email }) => [id, name, email ?? '']),
  ))
    context.print(line);
  if (affected.length === 0) throw new CommandFailed('No account is affected.', 3);
  if (options.yes !== true) await confirm([`Grant ${days} d to these ${affected.length} accounts as "${label}"?`]);
  let [granted, skipped] = [0, 0];
  const failed: string[] = [];
  for (const { id } of affected) {
    const action = {
      operator: commandOperator(),
      action: 'account.add_days',
      subject: id,
      note: `days: ${days}, ${note}`,
    } as const;
    try {
      const isNew = await recordAction(host.database, action, () => grantForOutage(host, id, { days, note, label }));
      if (isNew) granted++;
      else skipped++;
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      failed.push(`${id}: ${error.message}`);
    }
  }
  context.print(`granted ${granted}, had them already ${skipped}, failed ${failed.length}`);
  if (failed.length > 0) throw new CommandFailed(failed.join('\n'));
}
