/** Ms between two measurements. */
const interval = 250;
/** Ms by which a measurement may be late on a busy machine. */
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
 * Total ms for which this process was stalled: its event loop was blocked or the machine was suspended. The difference between two
 * calls shows whether a duration measured between them is reliable.
 */
export function stalledTime(): number {
  return stalled;
}
