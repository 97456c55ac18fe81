/** Ms between two looks at the loop. */
const interval = 250;
/** Ms by which a look may be late on a busy machine. */
const punctual = 100;

let lost = 0; // ms
let nextAt = 0; // on the clock of performance.now()
let timer: NodeJS.Timeout | undefined;

/**
 * Ms for which this process has not run although it could have, because its event loop was blocked or the machine was
 * stopped, since the first call. The difference of two calls says whether a duration between them measures anything.
 */
export function lostTime(): number {
  timer ??= watch();
  return lost;
}

function watch(): NodeJS.Timeout {
  nextAt = performance.now() + interval;
  return setInterval(() => {
    const now = performance.now();
    if (now - nextAt > punctual) lost += now - nextAt;
    nextAt = now + interval;
  }, interval).unref();
}
