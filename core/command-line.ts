import { readFileSync } from 'node:fs';
import { Command as Parser, CommanderError } from 'commander';
import { assemble } from './assembly.ts';
import { CommandFailed } from './extension/command.ts';
import { defineCheck } from './commands/check.ts';
import { type CoreCommandContext, createContext } from './commands/context.ts';
import { defineMigrate } from './commands/migrate.ts';
import { defineSchema } from './commands/schema.ts';
import { defineStart } from './commands/start.ts';
import { ConfigError } from './config/mistake.ts';
import { createLogger, describeError } from './logger.ts';
import { resolveSelfReference } from './extension/self-reference.ts';

/** Exit codes: 0 success, 1 failure, 2 usage error; a command may document more in its help. */
const usageError = 2;

/** The command line. @returns the exit code */
export async function runCommandLine(words: readonly string[]): Promise<number> {
  const parser = new Parser('gateway')
    .description('A self-hosted AI gateway that sells access by the day.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file', process.env['GATEWAY_CONFIG'] ?? 'gateway.yaml')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const log = createLogger();
  resolveSelfReference();
  const context = createContext(() => parser.opts<{ config: string }>().config, log);
  for (const define of [defineStart, defineCheck, defineSchema, defineMigrate]) define(parser, context);
  // A start assembles what it needs itself; a second assembly would delay it.
  const isOwn = parser.commands.some((command) => command.name() === commandOf(words));
  if (!isOwn) await definePluginCommands(parser, context);
  try {
    await parser.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error);
  }
}

/** The first word that is neither an option nor the value of one. */
function commandOf(words: readonly string[]): string | undefined {
  return words.find((word, index) => !word.startsWith('-') && !['-c', '--config'].includes(words[index - 1] ?? ''));
}

async function definePluginCommands(parser: Parser, context: CoreCommandContext): Promise<void> {
  const { registry } = await assemble(undefined, context.log, () => {
    throw new Error('the gateway has not started yet');
  });
  for (const command of registry.commands.values()) command.define(parser.command(command.name), context);
}

function ownVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Prints what went wrong; only errors of the gateway itself have a stack. */
function report(error: unknown): number {
  // The parser has already printed the usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageError;
  if (error instanceof ConfigError || error instanceof CommandFailed) console.error(error.message);
  else console.error(process.env['DEBUG'] === undefined ? explain(error) : describeError(error));
  return error instanceof CommandFailed ? error.exitCode : 1;
}

/** Message and causes without stacks, for errors that an operator can fix. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurs = error instanceof TypeError || error instanceof ReferenceError;
  if (isOurs) return describeError(error);
  return error.cause === undefined ? error.message : `${error.message}\n  cause: ${explain(error.cause)}`;
}
