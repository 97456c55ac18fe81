import { beforeEach, describe, expect, it } from 'vitest';
import { Throughput } from '../../../../plugins/upstream/health/throughput.ts';

let throughput: Throughput;
beforeEach(() => {
  throughput = new Throughput();
});

/** Streams a text. @param seconds from the first content, which comes at once */
const stream = (tokens: number, seconds: number) =>
  throughput.recordTiming({ firstContentMs: 10, durationMs: 10 + seconds * 1000, tokens });
/** Answers whole: the first content is all of it. */
const whole = (tokens: number, seconds: number) =>
  throughput.recordTiming({ firstContentMs: seconds * 1000, durationMs: seconds * 1000, tokens });
const often = (answer: () => unknown) => {
  for (let time = 0; time < 25; time++) answer();
};

/** An answer of 1,000 tokens. @param rate tokens a second */
const observe = (to: Throughput, firstContentAfter: number, rate: number) =>
  to.recordTiming({
    firstContentMs: firstContentAfter,
    durationMs: firstContentAfter + 1_000_000 / rate,
    tokens: 1_000,
  });

function learned(firstContent: number, rate: number): Throughput {
  for (let answer = 0; answer < 20; answer++) observe(throughput, firstContent, rate);
  return throughput;
}

describe('the throughput of a route', () => {
  it('the throughput of a route is not compared before it is known', () => {
    observe(throughput, 100, 50);
    expect(observe(throughput, 60_000, 1)).toBeUndefined();
  });

  it('a route is slow at ten times the time to the first content', () => {
    expect(observe(learned(500, 50), 4_900, 50)).toBeUndefined();
    throughput = new Throughput();
    expect(observe(learned(500, 50), 5_100, 50)).toBe('first content after 5.1 s');
  });

  it('a route is not slow below two seconds', () => {
    expect(observe(learned(50, 50), 1_900, 50)).toBeUndefined();
  });

  it('a route is slow at a tenth of the throughput', () => {
    expect(observe(learned(500, 50), 500, 4)).toBe('4.0 tokens per second');
  });

  it('the throughput of a route is not lowered by slow answers', () => {
    learned(500, 50);
    for (let answer = 0; answer < 100; answer++) observe(throughput, 20_000, 50);
    expect(observe(throughput, 20_000, 50)).toBeDefined();
  });

  it('a route is slow after answers that used to come at once', () => {
    often(() => stream(60, 0));
    expect(stream(60, 9)).toBe('6.7 tokens per second');
  });
});

describe('an ordinary stream is not slow', () => {
  it.each<[string, () => unknown]>([
    ['large answers that came in an instant', () => stream(20_000, 0)],
    ['large answers that came in a moment', () => stream(20_000, 1)],
    ['large whole answers from a cache', () => whole(20_000, 0.01)],
  ])('compared with %s', (_what, answer) => {
    often(answer);
    expect(stream(600, 25)).toBeUndefined();
  });

  it('compared with whole answers that were written as slowly', () => {
    often(() => whole(400, 50));
    expect(stream(60, 10)).toBeUndefined();
  });
});

it('a whole answer that waited for its turn is not slow by its rate', () => {
  often(() => stream(60, 0));
  expect(whole(60, 1.9)).toBeUndefined();
});
