/** What Linux says about a thread of this process. It imports no modules of the gateway's core: the thread of the journal loads it. */
import { readFileSync, readlinkSync } from 'node:fs';

/** Id of the calling thread; 0 if the system has no such name for it. */
export function ownThreadId(): number {
  try {
    return Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/** True if the thread computes or waits for a processor, so that no disk delays it; false if that is unknown. */
export function isRunnable(threadId: number): boolean {
  if (threadId === 0) return false;
  try {
    // The state follows the name of the thread, which is in parentheses and may contain some.
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    return stat.startsWith(') R ', stat.lastIndexOf(')'));
  } catch {
    return false;
  }
}
