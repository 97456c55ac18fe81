import { existsSync } from 'node:fs';

/** Work that hangs in a thread of this process. Node.js joins its threads before a process exits, so `process.exit` would wait for it. */
export const hungWork = new Set<object>();

/** Used to exit within a millisecond. Node.js takes longer to start, and a signal could end it meanwhile. Some images have no shell. */
const shell = '/bin/sh';
const hasShell = existsSync(shell);

/**
 * Ends this process without waiting for hung threads: it is replaced by a program that exits with the same code.
 *
 * @param mayHang true if other work may hang too
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
      // The program was replaced or removed meanwhile.
    }
  }
  process.exit(code);
}
