import { writeLogLine } from './output.ts';

/** The gateway's process log. Request records go to the journal. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** Logs with the stacks of `error`, which may be any thrown value, and of its causes. */
  error(message: string, error?: unknown): void;
}

const controls = /[^\P{Cc}\n]/gu;

/** Escapes control characters, so that third-party text cannot control the operator's terminal. */
export function printable(text: string): string {
  return text.replace(controls, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** In ascending order of severity. */
export const logLevels = ['info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const priorities: Readonly<Record<LogLevel, number>> = { info: 6, warn: 4, error: 3 }; // sd-daemon(3)

/** Plain text, or one JSON object per line for a collector. */
export const logFormats = ['text', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogSettings {
  readonly format?: LogFormat;
  /** Minimum level; default: info. */
  readonly level?: LogLevel;
  /** Removes secrets, because third-party errors may repeat their input. */
  readonly clean?: (text: string) => string;
  /** Number of the process, if several write to the same output. */
  readonly worker?: number | undefined;
  /** True for journald, which reads a line's priority from a prefix. */
  readonly hasPriorities?: boolean;
}

const requestIdInLine = /\breq_[\da-f]{32}\b/;

/**
 * Creates a logger that writes one line per event to stderr; stdout is for the output of commands.
 *
 * In JSON, a line has `time` (ISO 8601), `level`, `message`, and if present `worker`, `error` (stacks of an error and its causes) and
 * `request_id`, the first one in the line.
 */
export function createLogger(write: (line: string) => void = writeLogLine, settings: LogSettings = {}): Logger {
  const { format = 'text', level: lowest = 'info', clean = (text: string) => text, worker, hasPriorities } = settings;
  const plain = format === 'json' ? jsonLine : textLine;
  const render = hasPriorities === true ? (line: Line) => withPriority(line.level, plain(line)) : plain;
  const log = (level: LogLevel, message: string, error?: string) => {
    if (logLevels.indexOf(level) < logLevels.indexOf(lowest)) return;
    write(render({ level, worker, message: clean(message), error: error === undefined ? undefined : clean(error) }));
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

function textLine({ level, worker, message, error }: Line): string {
  const text = error === undefined ? message : `${message}: ${error}`;
  const workerPrefix = worker === undefined ? '' : `[${worker}] `;
  return `${new Date().toISOString()} ${level.padEnd(5)} ${workerPrefix}${printable(text).replaceAll('\n', '\n  ')}\n`;
}

function jsonLine({ level, worker, message, error }: Line): string {
  const request_id = requestIdInLine.exec(message)?.[0] ?? requestIdInLine.exec(error ?? '')?.[0];
  return `${JSON.stringify({ time: new Date().toISOString(), level, worker, message, error, request_id })}\n`;
}

function withPriority(level: LogLevel, text: string): string {
  const mark = `<${priorities[level]}>`;
  return mark + text.replaceAll(/\n(?!$)/g, `\n${mark}`);
}

/** Returns the stack of an error and of its causes. Never throws, even if the value is not an error. */
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
    return `a thrown ${typeof value} without a text`;
  }
}
