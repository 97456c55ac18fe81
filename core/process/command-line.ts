import { Command as Parser, CommanderError } from 'commander';
import { readDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { explainFailure } from '#core/extension/import-plugin.ts';
import { resolveSelfReference } from '#core/extension/self-reference.ts';
import { StartRefused } from '#core/platform/errors/start-refused.ts';
import { exitCodeOf, exitCodes } from '#core/platform/exit-codes.ts';
import { createLogger, describeError } from '#core/platform/logger.ts';
import { version } from '#core/platform/version.ts';
import { defineCheck } from './commands/check.ts';
import { type CoreCommandContext, createContext } from './commands/context.ts';
import { defineDoctor } from './commands/doctor.ts';
import { defineHistory } from './commands/history.ts';
import { defineInit } from './commands/init.ts';
import { defineMigrate } from './commands/migrate.ts';
import { defineReload, reloadName } from './commands/reload.ts';
import { defineRestore } from './commands/restore.ts';
import { defineSchema } from './commands/schema.ts';
import { defineStart } from './commands/start.ts';
import { defineWorkers } from './commands/workers.ts';
import { loadEnvironmentFile } from './environment-file.ts';
import { StopSignals } from './stop-signals.ts';

/**
 * Runs the command line.
 *
 * @param signals for `start`: handlers that were installed before the code was loaded
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[], signals?: StopSignals): Promise<number> {
  const parser = new Parser('daypass')
    .description('A self-hosted AI gateway that sells access by the day.')
    .version(version, '-V, --version', 'print the version')
    .option('-c, --config <file>', 'configuration file', process.env['GATEWAY_CONFIG'] ?? 'gateway.yaml')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const log = createLogger();
  resolveSelfReference();
  const file = () => parser.opts<{ config: string }>().config;
  const context = createContext(file, log);
  defineStart(parser, context, () => signals ?? new StopSignals());
  for (const define of [
    defineInit,
    defineCheck,
    defineDoctor,
    defineSchema,
    defineMigrate,
    defineRestore,
    defineHistory,
    defineReload,
    defineWorkers,
  ])
    define(parser, context);
  let problems: readonly string[] = [];
  try {
    const [name] = parser.parseOptions([...args]).operands;
    loadEnvironmentFile(file());
    // `start` assembles the plugins itself; doing that twice would delay the start.
    const isCoreCommand = parser.commands.some((command) => command.name() === name);
    if (!isCoreCommand || name === reloadName) problems = await definePluginCommands(parser, context);
    await parser.parseAsync(rewriteHelp(parser, args), { from: 'user' });
    return 0;
  } catch (error) {
    const code = reportError(error);
    // If the command is unknown, it may belong to a plugin that could not be loaded.
    if (code === exitCodes.usage) for (const problem of problems) console.error(problem);
    return code;
  }
}

/**
 * Rewrites a request for help as `COMMAND --help`: for an unknown command, or for `help` with two names, the parser would print the
 * parent's help. An unknown command is returned alone, so that the parser rejects it.
 */
function rewriteHelp(parser: Parser, args: readonly string[]): readonly string[] {
  const { operands, unknown } = parser.parseOptions([...args]);
  let isHelp = unknown.includes('--help') || unknown.includes('-h');
  let command = parser;
  const path: string[] = [];
  for (const word of operands) {
    if (command.commands.length === 0 || command.registeredArguments.length > 0) break;
    if (word === 'help') {
      isHelp = true;
      continue;
    }
    path.push(word);
    const child = command.commands.find((candidate) => candidate.name() === word);
    if (child === undefined) return path;
    command = child;
  }
  return isHelp ? [...path, '--help'] : args;
}

/**
 * A plugin that cannot be loaded does not keep other commands from running.
 *
 * @returns errors of third-party plugins
 */
async function definePluginCommands(parser: Parser, context: CoreCommandContext): Promise<string[]> {
  // If gateway.yaml cannot be read, the commands that need it will say so.
  const document = await readDocument(context.file(), process.env).catch(() => undefined);
  const { registry } = await assembleForCommand(document, context.log, () => {
    throw new Error('the gateway has not started yet');
  });
  const problems = registry.loadMistakes.length === 0 ? [] : [new ConfigError(registry.loadMistakes).message];
  for (const command of parser.commands)
    if (command.name() === reloadName) registry.variantSource?.declareOptions(command);
  for (const definition of registry.commands.values()) {
    const { name } = definition;
    const command = parser.createCommand(name).copyInheritedSettings(parser);
    try {
      definition.define(command, context);
      parser.addCommand(command);
    } catch (error) {
      problems.push(`command "${name}" cannot be defined: ${explainFailure(error)}`);
    }
  }
  return problems;
}

function reportError(error: unknown): number {
  // The parser has already printed the usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const isOperatorError =
    error instanceof ConfigError || error instanceof CommandFailed || error instanceof StartRefused;
  if (isOperatorError) console.error(error.message);
  else console.error(process.env['DEBUG'] === undefined ? describeCauses(error) : describeError(error));
  return exitCodeOf(error);
}

function describeCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isProgrammingError = error instanceof TypeError || error instanceof ReferenceError;
  if (isProgrammingError) return describeError(error);
  return error.cause === undefined ? error.message : `${error.message}\n  cause: ${describeCauses(error.cause)}`;
}
