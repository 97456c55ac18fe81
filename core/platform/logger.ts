import { writeLogLine } from './output.ts';

/** The gateway's own log. Records of requests go to the journal. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** Prints the stack of `error`, which may be any thrown value, and of its causes. */
  error(message: string, error?: unknown): void;
}

const controls = /[^\P{Cc}\n]/gu;

/** Escapes control characters, so that foreign text cannot control the operator's terminal. */
export function printable(text: string): string {
  return text.replace(controls, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Writes one line per event to stderr; stdout belongs to the output of commands. */
export function createLogger(write: (line: string) => void = writeLogLine): Logger {
  const line = (level: string, message: string) => {
    write(`${new Date().toISOString()} ${level} ${printable(message).replaceAll('\n', '\n  ')}\n`);
  };
  return {
    info: (message) => line('info ', message),
    warn: (message) => line('warn ', message),
    error: (message, error) => line('error', error === undefined ? message : `${message}: ${describeError(error)}`),
  };
}

/** An error's stack, followed by those of its causes. Never throws, whatever was thrown. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return describeThrown(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  if (error instanceof AggregateError) return [own, ...error.errors.map(describeError)].join('\n');
  return error.cause === undefined ? own : `${own}\ncaused by ${describeError(error.cause)}`;
}

function describeThrown(value: unknown): string {
  try {
    return String(value);
  } catch {
    // An object without a prototype, say.
    return `a thrown ${typeof value} without a text`;
  }
}
