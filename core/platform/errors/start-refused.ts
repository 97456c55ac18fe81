import { exitCodes } from '../exit-codes.ts';

interface RefusalOptions extends ErrorOptions {
  /** True if further starts fail too until something is changed. Default: false, as for a port in use. */
  readonly isPermanent?: boolean;
}

/** A start that fails for a reason outside the code: the message states the remedy, and a stack would add nothing. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  readonly exitCode: number;

  constructor(message: string, { isPermanent = false, ...options }: RefusalOptions = {}) {
    super(message, options);
    this.exitCode = isPermanent ? exitCodes.configuration : exitCodes.failure;
  }
}

/**
 * Explains why an address cannot be listened on.
 *
 * @param where for the message, such as `127.0.0.1:8080`
 * @param setting that configures the address, such as `listen.port`
 */
export function listenRefused(where: string, setting: string, cause: unknown): StartRefused {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isDenied = code === 'EACCES';
  const noun = setting.endsWith('socket') ? 'path' : 'port';
  const reason =
    code === 'EADDRINUSE'
      ? `the ${noun} is in use; set ${setting} to another one`
      : isDenied
        ? `the user of the gateway may not use the ${noun}; set ${setting} to another one`
        : message;
  return new StartRefused(`cannot listen on ${where}: ${reason}`, { cause, isPermanent: isDenied });
}
