import { existsSync } from 'node:fs';

/**
 * Work that waits in a thread of this process without an answer. Node.js joins its threads before a process ends, so
 * `process.exit` would wait for it as well.
 */
export const hungWork = new Set<object>();

/** Exits within a millisecond. Node.js would start first, and a signal could end it meanwhile. Some images have no shell. */
const shell = '/bin/sh';
const hasShell = existsSync(shell);

/**
 * Ends this process, and waits for no thread that hangs: in its place, a program runs that ends with the same code.
 *
 * @param mayHang true where something else may hang as well
 */
export function exitAtOnce(code: number, mayHang = false): never {
  if ((hungWork.size > 0 || mayHang) && process.execve !== undefined) {
    const [program, ...parameters] = hasShell
      ? [shell, '-c', `exit ${code}`]
      : [process.execPath, '--eval', `process.exit(${code})`];
    const { LD_LIBRARY_PATH } = process.env;
    const environment = LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
    try {
      process.execve(program, [program, ...parameters], environment);
    } catch {
      // The program has been replaced or removed meanwhile.
    }
  }
  process.exit(code);
}
