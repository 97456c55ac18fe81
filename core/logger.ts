/** Where the gateway reports about itself. Records of requests go to the journal, not here. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** `error` may be anything that was thrown; its stack is printed, its causes too. */
  error(message: string, error?: unknown): void;
}

const controls = /[^\P{Cc}\n]/gu;

/** Keeps control characters of strangers (terminal escapes, bells) out of the operator's terminal. */
export function printable(text: string): string {
  return text.replace(controls, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** One line an event on stderr, so that stdout stays for what commands print. */
export function createLogger(write: (line: string) => void = (line) => process.stderr.write(line)): Logger {
  const line = (level: string, message: string) => {
    write(`${new Date().toISOString()} ${level} ${printable(message).replaceAll('\n', '\n  ')}\n`);
  };
  return {
    info: (message) => line('info ', message),
    warn: (message) => line('warn ', message),
    error: (message, error) => line('error', error === undefined ? message : `${message}: ${describeError(error)}`),
  };
}

/** An error's stack with those of its causes. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  if (error instanceof AggregateError) return [own, ...error.errors.map(describeError)].join('\n');
  return error.cause === undefined ? own : `${own}\ncaused by ${describeError(error.cause)}`;
}
