import { existsSync } from 'node:fs';

/** Work that hangs in a thread of this process. Node.js joins its threads on exit, so `process.exit` would wait for this work. */
export const hungWork = new Set<object>();

/**
 * A shell exits within a millisecond. Node.js, the fallback for images without a shell, takes longer to start, and a signal could end it in
 * the meantime.
 */
const shellPath = '/bin/sh';
const hasShell = existsSync(shellPath);

/**
 * Ends this process without waiting for hung threads, by replacing it with a program that exits with the same code.
 *
 * @param mayHang true if other work may hang too
 */
export function exitAtOnce(code: number, mayHang = false): never {
  if ((hungWork.size > 0 || mayHang) && process.execve !== undefined) {
    const [program, ...parameters] = hasShell
      ? [shellPath, '-c', `exit ${code}`]
      : [process.execPath, '--eval', `process.exit(${code})`];
    const { LD_LIBRARY_PATH } = process.env;
    const environment = LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };
    try {
      process.execve(program, [program, ...parameters], environment);
    } catch {
      // The program was replaced or removed in the meantime.
    }
  }
  process.exit(code);
}
