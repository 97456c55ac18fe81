/** Asks Linux for the state of a thread. Imports no core modules, because the journal's thread loads this one. */
import { readFileSync, readlinkSync } from 'node:fs';

/** Returns the Linux id of the calling thread; 0 on other systems. */
export function readThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns true if the thread is running or waits for a processor, so that no disk delays it; false if that is unknown. */
export function isRunnable(threadId: number): boolean {
  if (threadId === 0) return false;
  try {
    // The state follows the thread's name, which is in parentheses and may itself contain some.
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    return stat.startsWith(') R ', stat.lastIndexOf(')'));
  } catch {
    return false;
  }
}
