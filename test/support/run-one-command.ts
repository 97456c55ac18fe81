import { Command as Parser, CommanderError } from 'commander';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';

export interface CommandResult {
  readonly exitCode: number; // 0: success, 1: failure, 2: invalid usage, 3: not found
  readonly output: string;
  readonly error: string;
}

/** Loads only this command, and no gateway.yaml. */
export async function runOneCommand(
  command: Command,
  withHost: CommandContext['withHost'],
  words: readonly string[],
): Promise<CommandResult> {
  const lines: string[] = [];
  let error = '';
  const write = { writeOut: (text: string) => lines.push(text), writeErr: (text: string) => (error += text) };
  const program = new Parser('daypass').exitOverride().configureOutput(write);
  command.define(program.command(command.name), {
    withHost: (work) => explainErrors(withHost(work)),
    print: (line) => lines.push(line),
  });
  try {
    await program.parseAsync([command.name, ...words], { from: 'user' });
    return { exitCode: 0, output: lines.join('\n'), error };
  } catch (thrown) {
    const output = lines.join('\n');
    if (thrown instanceof CommandFailed) return { exitCode: thrown.exitCode, output, error: thrown.message };
    if (!(thrown instanceof CommanderError)) throw thrown;
    return { exitCode: thrown.code.includes('help') ? 0 : 2, output, error };
  }
}

/** `prepare` runs before the command. */
export function hostOn(
  database: Database,
  prepare: (host: Host) => void = () => undefined,
): CommandContext['withHost'] {
  return async (work) => {
    await using host = createTestHost({ database });
    prepare(host);
    return await work(host);
  };
}
