import { exitCodes } from '../exit-codes.ts';

interface RefusalOptions extends ErrorOptions {
  /** True if a later start fails as well until something is changed. Default: false, as for a port in use. */
  readonly isPermanent?: boolean;
}

/** A start that fails for a reason outside of the code: the message states the remedy, and a stack would add nothing. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  readonly exitCode: number;

  constructor(message: string, { isPermanent = false, ...options }: RefusalOptions = {}) {
    super(message, options);
    this.exitCode = isPermanent ? exitCodes.configuration : exitCodes.failure;
  }
}

/**
 * The refusal of an address to listen on.
 *
 * @param where for the message, such as `127.0.0.1:8080`
 * @param setting names another address, such as `listen.port`
 */
export function listenRefused(where: string, setting: string, cause: unknown): StartRefused {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isDenied = code === 'EACCES';
  const what = setting.endsWith('socket') ? 'path' : 'port';
  const why =
    code === 'EADDRINUSE'
      ? `the ${what} is in use; set ${setting} to another one`
      : isDenied
        ? `the user of the gateway may not use the ${what}; set ${setting} to another one`
        : message;
  return new StartRefused(`cannot listen on ${where}: ${why}`, { cause, isPermanent: isDenied });
}
