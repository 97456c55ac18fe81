import { createInterface } from 'node:readline/promises';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { escapeControls } from '#core/platform/logger.ts';

/**
 * Prints the question to stderr and waits for a "yes" from the terminal.
 *
 * @throws CommandFailed if the answer is not "yes", or stdin is not a terminal
 */
export async function confirm(question: readonly string[]): Promise<void> {
  if (!process.stdin.isTTY)
    throw new CommandFailed('This cannot be confirmed without a terminal: pass --yes to skip the question.', 2);
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question.map(escapeControls).join('\n')} Type "yes": `);
  if (answer.trim().toLowerCase() !== 'yes') throw new CommandFailed('Nothing was changed.');
}
