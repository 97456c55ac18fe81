import { Command as Parser, CommanderError } from 'commander';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { defineCheck } from './commands/check.ts';
import { type CoreCommandContext, createContext } from './commands/context.ts';
import { defineDoctor } from './commands/doctor.ts';
import { loadEnvironmentFile } from './environment-file.ts';
import { defineHistory } from './commands/history.ts';
import { defineInit } from './commands/init.ts';
import { defineMigrate } from './commands/migrate.ts';
import { defineReload, reloadName } from './commands/reload.ts';
import { defineRestore } from './commands/restore.ts';
import { defineSchema } from './commands/schema.ts';
import { defineStart } from './commands/start.ts';
import { defineWorkers } from './commands/workers.ts';
import { StopSignals } from './stop-signals.ts';
import { readDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { explainFailure } from '#core/extension/import-plugin.ts';
import { StartRefused } from '#core/platform/errors/start-refused.ts';
import { exitCodeOf, exitCodes } from '#core/platform/exit-codes.ts';
import { createLogger, describeError } from '#core/platform/logger.ts';
import { version } from '#core/platform/version.ts';
import { resolveSelfReference } from '#core/extension/self-reference.ts';

/**
 * Runs the command line.
 *
 * @param signals signals received since before the code was loaded, for `start`
 * @returns the exit code
 */
export async function runCommandLine(words: readonly string[], signals?: StopSignals): Promise<number> {
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
    const [name] = parser.parseOptions([...words]).operands;
    loadEnvironmentFile(file());
    // A start makes its own assembly; a second one would delay it.
    const isOwn = parser.commands.some((command) => command.name() === name);
    if (!isOwn || name === reloadName) problems = await definePluginCommands(parser, context);
    await parser.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    const code = report(error);
    // The unknown command may belong to a broken plugin.
    if (code === exitCodes.usage) for (const problem of problems) console.error(problem);
    return code;
  }
}

/**
 * Defines the commands of all plugins, including third-party plugins of gateway.yaml, and their options of `reload`. A broken plugin
 * does not prevent the gateway's own commands from running.
 *
 * @returns mistakes of third-party plugins
 */
async function definePluginCommands(parser: Parser, context: CoreCommandContext): Promise<string[]> {
  // Commands that need gateway.yaml report that it cannot be read.
  const document = await readDocument(context.file(), process.env).catch(() => undefined);
  const { registry } = await assembleForCommand(document, context.log, () => {
    throw new Error('the gateway has not started yet');
  });
  const problems = registry.loadMistakes.length === 0 ? [] : [new ConfigError(registry.loadMistakes).message];
  for (const own of parser.commands) if (own.name() === reloadName) registry.variantSource?.declareOptions(own);
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

function report(error: unknown): number {
  // The parser has already printed the usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const isKnown = error instanceof ConfigError || error instanceof CommandFailed || error instanceof StartRefused;
  if (isKnown) console.error(error.message);
  else console.error(process.env['DEBUG'] === undefined ? explain(error) : describeError(error));
  return exitCodeOf(error);
}

/** Formats message and causes without stacks, for errors that an operator can fix. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isOurs = error instanceof TypeError || error instanceof ReferenceError;
  if (isOurs) return describeError(error);
  return error.cause === undefined ? error.message : `${error.message}\n  cause: ${explain(error.cause)}`;
}
