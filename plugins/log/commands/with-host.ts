import { AccountError } from '#core/business/accounts/account-error.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';

const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 request, account or model not found.`;

/** The end of a help text. */
export function examples(lines: readonly string[]): string {
  return `\n\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}${exitCodes}`;
}

/** Errors about accounts become messages with an exit code. */
export async function withHost(context: CommandContext, work: (host: Host) => Promise<void>): Promise<void> {
  try {
    await context.withHost(work);
  } catch (error) {
    if (error instanceof AccountError) throw new CommandFailed(error.message, error.kind === 'not_found' ? 3 : 1);
    throw error;
  }
}
