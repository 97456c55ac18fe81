import { type Command as Parser, Option } from 'commander';
import { orderStates } from '#core/business/payments/order-types.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { parseDay, type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Host } from '#core/gateway/host/host.ts';

/** Options of a command that prints for people or as JSON. */
export interface Output extends ZoneOptions {
  readonly json?: true;
}

export const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 order or account not found.`;

/** Loaded when a command runs. */
export const operations = () => import('./operations.ts');

export function subcommand(parser: Parser, name: string, description: string): Parser {
  return parser.command(name).description(description).option('--json', 'print JSON').addOption(zoneOption());
}

/** Adds the filters of orders, which are those of their money too. */
export function filtered(parser: Parser): Parser {
  return parser
    .addOption(new Option('--state <state>', 'only orders in this state').choices(orderStates))
    .option('--flagged', 'only orders with a flag that is not resolved')
    .option('--day <day>', 'of one day, such as 2026-11-22', parseDay)
    .option('--since <day>', 'from this day on', parseDay)
    .option('--until <day>', 'up to this day, included', parseDay)
    .option('--account <account>', 'of this account: id, e-mail address, name, hint or key', parseLine);
}

export const examples = (lines: readonly string[]): string => exampleText(lines, exitCodes);

/** Errors about accounts and orders become messages with an exit code. */
export function withHost(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  return explainErrors(context.withHost(work));
}
