import type { Command as Parser } from 'commander';
import type { Host } from '#core/gateway/host/host.ts';

/** A command of `gateway`, registered by core or a plugin. */
export interface Command {
  readonly name: string;
  /** Declares arguments, options and the action. The parser already has the name. */
  define(parser: Parser, context: CommandContext): void;
}

export interface CommandContext {
  /** Opens configuration, database and shared state, runs `work`, and closes them. */
  withHost<T>(work: (host: Host) => Promise<T>): Promise<T>;
  /** Prints a line to stdout. */
  print(line: string): void;
}

/** Returns the end of a help text: example command lines and the meaning of exit codes. */
export function exampleText(lines: readonly string[], exitCodes: string): string {
  if (lines.length === 0) return exitCodes;
  return `\n\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}${exitCodes}`;
}

/** Ends a command with a message and an exit code, without a stack. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
