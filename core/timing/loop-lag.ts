/** Ms between two looks at the loop. */
const interval = 250;
/** Ms by which a look may be late on a busy machine. */
const punctual = 100;

const now = performance.now.bind(performance);
let stalled = 0; // ms
let nextAt = now() + interval;

setInterval(() => {
  const late = now() - nextAt;
  if (late > punctual) stalled += late;
  nextAt = now() + interval;
}, interval).unref();

/**
 * Ms for which this process has not run although it could have, because its event loop was blocked or the machine was
 * stopped. The difference of two calls says whether a duration between them measures anything.
 */
export function stalledTime(): number {
  return stalled;
}
