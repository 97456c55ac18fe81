import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { createExchange } from '../../../support/exchange.ts';
import { outcome, reply } from './fixture.ts';

const never = () => new Promise<never>(() => undefined);
const log = { info() {}, warn() {}, error: vi.fn<(message: string, error?: Error) => void>() };
const pipelineOf = (...stages: Stage[]) =>
  new Pipeline(
    stages.map((stage, index) => ({ name: `stage-${index}`, stage })),
    log,
    [],
    20,
  );
const faults = () => log.error.mock.calls.map(([message, error]) => error?.message ?? message);

beforeEach(() => {
  vi.useFakeTimers();
  log.error.mockClear();
});
afterEach(() => vi.useRealTimers());

/** What the client gets once so many seconds are over; undefined while it waits. */
async function answerAfter(seconds: number, stages: Stage[], exchange = createExchange()): Promise<Reply | undefined> {
  let answered: Reply | undefined;
  void pipelineOf(...stages)
    .answer(exchange)
    .then((result) => (answered = result));
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return answered;
}

describe('a stage that never ends', () => {
  it.each<[string, Stage[], string]>([
    ['enter', [{}, { enter: never }], 'stage "stage-1" has not finished after 20 s (enter)'],
    ['a deferred answer', [{ enter: () => never }, {}], 'stage "stage-0" has not finished after 20 s (answer)'],
    ['leave', [{ leave: never }, { enter: () => reply('a') }], 'stage "stage-0" has not finished after 20 s (leave)'],
  ])('is named if it hangs in %s, and its client gets a 500', async (_moment, stages, message) => {
    expect(await answerAfter(20, stages)).toBeUndefined();
    const exchange = createExchange();
    expect(await answerAfter(21, stages, exchange)).toMatchObject({ status: 500 });
    expect(faults()).toContain(message);
    expect(exchange.signal.aborted).toBe(true);
  });

  it('is given the longer time that it states', async () => {
    const stages: Stage[] = [{ timeout: 40, enter: never }];
    expect(await answerAfter(40, stages)).toBeUndefined();
    expect(await answerAfter(41, stages)).toMatchObject({ status: 500 });
  });

  it('is not watched when it states that it bounds its waits itself', async () => {
    const stages: Stage[] = [{ timeout: Infinity, enter: never }];
    expect(await answerAfter(100_000, stages)).toBeUndefined();
    expect(pipelineOf(...stages).bodyTimeout).toBe(20);
  });

  it('is named by its endpoint if it belongs to one', async () => {
    const endpoint = {
      name: 'greeting',
      method: 'GET',
      path: '/v1/greeting',
      isMetered: false,
      answer: never,
    } as const;
    expect(await answerAfter(21, [], createExchange({ endpoint }))).toMatchObject({ status: 500 });
    expect(faults()).toEqual(['endpoint "greeting" has not finished after 20 s (answer)']);
  });

  it('is named if it hangs in done, and done of the later stages runs', async () => {
    const done = vi.fn<() => void>();
    const finished = pipelineOf({ done: never }, { done }).finish(createExchange(), outcome);
    await vi.advanceTimersByTimeAsync(21_000);
    await finished;
    expect(done).toHaveBeenCalledTimes(1);
    expect(faults()).toEqual(['stage "stage-0" has not finished after 20 s (done)']);
  });

  it('and has its late reply thrown away', async () => {
    const body = new Readable({ read() {} });
    const late = Promise.withResolvers<Reply>();
    await answerAfter(21, [{ enter: () => late.promise }]);
    late.resolve({ status: 200, headers: {}, body });
    await vi.advanceTimersByTimeAsync(0);
    expect(body.destroyed).toBe(true);
  });
});

it('a slow request body does not count against the stage that reads it', async () => {
  const exchange = createExchange();
  Object.assign(exchange.body, { isReading: true });
  expect(await answerAfter(50, [{ enter: never }], exchange)).toBeUndefined();
  Object.assign(exchange.body, { isReading: false });
  await vi.advanceTimersByTimeAsync(21_000);
  expect(faults()).toEqual(['stage "stage-0" has not finished after 20 s (enter)']);
});

it('a body may pause for as long as the most patient stage', () => {
  expect(pipelineOf({ timeout: 90 }, {}).bodyTimeout).toBe(90);
});
