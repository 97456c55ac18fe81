import type { Command as Parser } from 'commander';
import { type CommandContext, exampleText } from '#core/extension/commands/command.ts';
import { type ZoneOptions, zoneOption } from '#core/extension/commands/days.ts';
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

export const examples = (lines: readonly string[]): string => exampleText(lines, exitCodes);

/** Errors about accounts and orders become messages with an exit code. */
export function withHost(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  return explainErrors(context.withHost(work));
}
