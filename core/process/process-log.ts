import { fstatSync } from 'node:fs';
import { format as formatArguments } from 'node:util';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { exitCodes } from '#core/platform/exit-codes.ts';
import {
  createLogger,
  type LogFormat,
  logFormats,
  type Logger,
  type LogLevel,
  logLevels,
} from '#core/platform/logger.ts';
import { createSecretRemover } from './secret-remover.ts';
import { readWorkerSettings } from './workers/settings.ts';

export interface ProcessLog {
  readonly log: Logger;
  readonly format: LogFormat;
  /** From now on, removes these secrets from log lines, in addition to those in the environment. */
  hideSecrets(configured: readonly string[]): void;
}

/**
 * Opens the log according to LOG_FORMAT (text or json; default: text on a terminal, otherwise json) and LOG_LEVEL (info, warn or error;
 * default: info). Lines for journald start with their priority.
 *
 * @throws CommandFailed for invalid values
 */
export function openProcessLog(
  environment: NodeJS.ProcessEnv,
  isTerminal = process.stderr.isTTY,
  write?: (line: string) => void,
): ProcessLog {
  const format = readChoice(environment, 'LOG_FORMAT', logFormats) ?? (isTerminal ? 'text' : 'json');
  const level: LogLevel = readChoice(environment, 'LOG_LEVEL', logLevels) ?? 'info';
  let removeSecrets = createSecretRemover(environment, []);
  return {
    format,
    log: createLogger(write, {
      format,
      level,
      redact: (text) => removeSecrets(text),
      worker: readWorkerSettings(environment)?.number,
      hasPriorities: isConnectedToJournal(environment),
    }),
    hideSecrets(configured) {
      removeSecrets = createSecretRemover(environment, configured);
    },
  };
}

function isConnectedToJournal({ JOURNAL_STREAM: stream }: NodeJS.ProcessEnv): boolean {
  if (stream === undefined) return false;
  // The journal's device and inode, which systemd passes on (systemd.exec(5)).
  const { dev, ino } = fstatSync(2, { bigint: true });
  return stream === `${dev}:${ino}`;
}

/** Logs warnings from Node.js, plugins, and libraries such as ioredis. Otherwise, they would appear as text between lines of JSON. */
export function logWarnings(log: Logger): void {
  process.removeAllListeners('warning').on('warning', ({ name, message }) => log.warn(`${name}: ${message}`));
  console.warn = (...words) => log.warn(formatArguments(...words));
  console.error = (...words) => log.error(formatArguments(...words));
}

function readChoice<T extends string>(
  environment: NodeJS.ProcessEnv,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = environment[name] || undefined;
  if (value === undefined || values.includes(value as T)) return value as T | undefined;
  throw new CommandFailed(`${name} is "${value}"; use ${values.join(', ')}, or unset it`, exitCodes.configuration);
}
