import type { Command as Parser } from 'commander';
import type { Host } from '#core/gateway/host/host.ts';

/** A `daypass` command, registered by core or a plugin. */
export interface Command {
  readonly name: string;
  /** Declares arguments, options and the action. The parser already has its name. */
  define(parser: Parser, context: CommandContext): void;
}

/** Functions that a command may use. */
export interface CommandContext {
  /**
   * Opens the configuration, the database and the shared state, runs `work`, and closes them again. Errors about accounts, orders, payments
   * and actions end the command with their message and an exit code (`explainErrors`).
   */
  withHost<T>(work: (host: Host) => Promise<T>): Promise<T>;
  /** Prints a line to stdout. */
  print(line: string): void;
}

/** Returns the closing part of a help text: example command lines and the meaning of the exit codes. */
export function exampleText(commandLines: readonly string[], exitCodes: string): string {
  if (commandLines.length === 0) return exitCodes;
  return `\n\nExamples:\n${commandLines.map((line) => `  $ ${line}`).join('\n')}${exitCodes}`;
}

/** Thrown to end a command with a message and an exit code. No stack is printed. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
