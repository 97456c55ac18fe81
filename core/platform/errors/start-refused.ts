import { exitCodes } from '../exit-codes.ts';

interface RefusalOptions extends ErrorOptions {
  readonly isPermanent?: boolean; // no start can succeed until something is changed; default: false, as for a port in use
}

/** Reports a start that fails for a reason outside the code. The message states the remedy, so it is shown without a stack. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused';
  readonly exitCode: number;

  constructor(message: string, { isPermanent = false, ...options }: RefusalOptions = {}) {
    super(message, options);
    this.exitCode = isPermanent ? exitCodes.configuration : exitCodes.failure;
  }
}

/**
 * @param address such as `127.0.0.1:8080`
 * @param setting such as `listen.port`
 */
export function createListenRefusal(address: string, setting: string, cause: unknown): StartRefused {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isDenied = code === 'EACCES';
  const noun = setting.endsWith('socket') ? 'path' : 'port';
  let reason = message;
  if (code === 'EADDRINUSE') reason = `the ${noun} is in use; set ${setting} to another one`;
  else if (isDenied) reason = `the gateway's user may not use the ${noun}; set ${setting} to another one`;
  return new StartRefused(`cannot listen on ${address}: ${reason}`, { cause, isPermanent: isDenied });
}
