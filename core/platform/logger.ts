import { writeLogLine } from './output.ts';

/** The gateway's process log. Request records go to the journal. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** Logs with the stacks of `error`, which may be any thrown value, and of its causes. */
  error(message: string, error?: unknown): void;
}

const controlCharacters = /[^\P{Cc}\n]/gu;

/** Escapes control characters, so that third-party text cannot control the operator's terminal. */
export function escapeControls(text: string): string {
  return text.replace(controlCharacters, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Levels of log lines, in ascending order of severity. */
export const logLevels = ['info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const priorities: Readonly<Record<LogLevel, number>> = { info: 6, warn: 4, error: 3 }; // sd-daemon(3)

/** Formats of the log: plain text, or one JSON object per line for a collector. */
export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogSettings {
  readonly format?: LogFormat;
  /** Minimum level; default: info. */
  readonly level?: LogLevel;
  /** Removes secrets from messages and stacks, because third-party errors may repeat their input. */
  readonly redact?: (text: string) => string;
  /** Number of this process, if several write to the same output. */
  readonly worker?: number | undefined;
  /** True for journald, which reads a line's priority from a prefix. */
  readonly hasPriorities?: boolean;
}

const requestIdInLine = /\breq_[\da-f]{32}\b/;

/**
 * Creates a logger that writes one line per event to stderr; stdout is for the output of commands.
 *
 * A JSON line has `time` (ISO 8601), `level` and `message`, and if applicable `worker`, `error` (the stacks of an error and its causes) and
 * `request_id` (the first id that occurs in the line).
 */
export function createLogger(write: (line: string) => void = writeLogLine, settings: LogSettings = {}): Logger {
  const {
    format = 'text',
    level: minLevel = 'info',
    redact = (text: string) => text,
    worker,
    hasPriorities,
  } = settings;
  const renderLine = format === 'json' ? renderJsonLine : renderTextLine;
  const render = hasPriorities === true ? (line: Line) => addPriority(line.level, renderLine(line)) : renderLine;
  const log = (level: LogLevel, message: string, error?: string) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(minLevel)) return;
    write(render({ level, worker, message: redact(message), error: error === undefined ? undefined : redact(error) }));
  };
  return {
    info: (message) => log('info', message),
    warn: (message) => log('warn', message),
    error: (message, error) => log('error', message, error === undefined ? undefined : describeError(error)),
  };
}

interface Line {
  readonly level: LogLevel;
  readonly worker: number | undefined;
  readonly message: string;
  readonly error: string | undefined;
}

function renderTextLine({ level, worker, message, error }: Line): string {
  const text = error === undefined ? message : `${message}: ${error}`;
  const workerPrefix = worker === undefined ? '' : `[${worker}] `;
  return `${new Date().toISOString()} ${level.padEnd(5)} ${workerPrefix}${escapeControls(text).replaceAll('\n', '\n  ')}\n`;
}

function renderJsonLine({ level, worker, message, error }: Line): string {
  const request_id = requestIdInLine.exec(message)?.[0] ?? requestIdInLine.exec(error ?? '')?.[0];
  return `${JSON.stringify({ time: new Date().toISOString(), level, worker, message, error, request_id })}\n`;
}

function addPriority(level: LogLevel, text: string): string {
  const prefix = `<${priorities[level]}>`;
  return prefix + text.replaceAll(/\n(?!$)/g, `\n${prefix}`);
}

/** Returns the stacks of an error and its causes. Never throws, even if the value is not an error. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return describeThrown(error);
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  if (error instanceof AggregateError) return [stack, ...error.errors.map(describeError)].join('\n');
  return error.cause === undefined ? stack : `${stack}\ncaused by ${describeError(error.cause)}`;
}

function describeThrown(value: unknown): string {
  try {
    return String(value);
  } catch {
    // For example an object without a prototype.
    return `a thrown ${typeof value} that cannot be converted to text`;
  }
}
