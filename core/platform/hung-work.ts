/**
 * What waits for something that does not answer in a thread of this process. Node.js joins its threads before a process ends, so
 * `process.exit` would wait for it as well.
 */
export const hungWork = new Set<object>();

/**
 * Ends this process, and waits for no thread that hangs: in its place, a program runs that ends with the same code.
 *
 * @param mayHang true where something else may hang as well
 */
export function exitAtOnce(code: number, mayHang = false): never {
  if ((hungWork.size > 0 || mayHang) && process.execve !== undefined)
    process.execve(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  process.exit(code);
}
