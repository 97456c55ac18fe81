/**
 * Loaded into a gateway by `--import`. Measures how long the turns of its event loop are, and writes the longest since the
 * last question to the file in LOOP_WATCH each time a SIGUSR2 comes.
 *
 * A timer is due every few milliseconds. How late it comes is how long somebody else has kept the loop, or how long the
 * machine has had no time for the process; what the thread has used of the processor meanwhile tells them apart. The
 * smaller of the two is what the gateway itself has kept others waiting.
 */
import { writeFileSync } from 'node:fs';

const interval = 2;
let longest = 0;
let last = performance.now();
let used = cpu();

setInterval(() => {
  const [now, usedNow] = [performance.now(), cpu()];
  longest = Math.max(longest, Math.min(now - last - interval, usedNow - used));
  [last, used] = [now, usedNow];
}, interval).unref();

process.on('SIGUSR2', () => {
  writeFileSync(process.env['LOOP_WATCH'] as string, `${longest.toFixed(1)}\n`, { flag: 'a' });
  longest = 0;
});

/** Ms that this thread has used. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
