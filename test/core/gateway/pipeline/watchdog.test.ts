import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
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

it('the time of an exchange in a queue does not count against the stage that has queued it', async () => {
  const exchange = createExchange();
  exchange.isQueued = true;
  expect(await answerAfter(600, [{ enter: never }], exchange)).toBeUndefined();
  exchange.isQueued = false;
  await vi.advanceTimersByTimeAsync(21_000);
  expect(faults()).toEqual(['stage "stage-0" has not finished after 20 s (enter)']);
});

it.each<[string, () => Promise<Reply | undefined>]>([
  ['throws', () => Promise.reject(new GatewayError('rate_limited', 'Too many requests.'))],
  ['returns', () => Promise.resolve(undefined)],
])('the queue of a stage that %s inside it is no longer that of its exchange', async (_how, leaveQueue) => {
  const exchange = createExchange();
  const enter = () => {
    exchange.isQueued = true;
    return leaveQueue();
  };
  const answered = answerAfter(21, [{ leave: never }, { enter }, { enter: () => reply('a') }], exchange);
  expect(await answered).toMatchObject({ status: 500 });
  expect(faults()).toEqual(['stage "stage-0" has not finished after 20 s (leave)']);
});

describe('a stage of an exchange that the gateway ends', () => {
  it('is given up within a second if it does not hear of it, with the reason', async () => {
    const exchange = createExchange();
    const answered = answerAfter(1, [{ timeout: 600, enter: never }], exchange);
    exchange.abort(new GatewayError('shutting_down', 'The gateway is stopping.'));
    expect(await answered).toMatchObject({ status: 503 });
    expect(faults()).toEqual([]);
  });

  it('is not given up for a client that has left: what it reports belongs in the record', async () => {
    const exchange = createExchange();
    const answered = answerAfter(10, [{ enter: never }], exchange);
    exchange.abort(new ClientGone());
    expect(await answered).toBeUndefined();
  });
});

describe('a retired pipeline', () => {
  it('gives up stages that do not end in time, so that the others hear of the end before they are released', async () => {
    const events: string[] = [];
    const note = (what: string) => () => void events.push(what);
    const pipeline = pipelineOf({ done: never }, { done: note('done'), [Symbol.asyncDispose]: note('released') });
    const exchange = createExchange();
    pipeline.start(exchange);
    const finished = pipeline.finish(exchange, outcome);
    const retired = pipeline.retire(5_000);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(events).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all([finished, retired]);
    expect(events).toEqual(['done', 'released']);
    expect(faults()).toEqual([
      '1 requests have not ended; abandoning their stages',
      'stage "stage-0" has not finished after 5 s (done)',
    ]);
  });

  it('gives up an exchange in a queue, too', async () => {
    const pipeline = pipelineOf({ enter: never });
    const exchange = createExchange();
    exchange.isQueued = true;
    pipeline.start(exchange);
    let answered: Reply | undefined;
    void pipeline.answer(exchange).then((result) => (answered = result));
    void pipeline.retire(5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(answered).toMatchObject({ status: 500 });
  });

  it('is released without an exchange that does not end at all', async () => {
    const release = vi.fn<() => void>();
    const pipeline = pipelineOf({ [Symbol.asyncDispose]: release });
    pipeline.start(createExchange());
    const retired = pipeline.retire(5_000);
    await vi.advanceTimersByTimeAsync(6_000);
    await retired;
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('releases every stage, even if one does not finish', async () => {
    const release = vi.fn<() => void>();
    const retired = pipelineOf({ [Symbol.asyncDispose]: release }, { [Symbol.asyncDispose]: never }).retire();
    await vi.advanceTimersByTimeAsync(5_000);
    await retired;
    expect(release).toHaveBeenCalledTimes(1);
    expect(faults()).toEqual(['not finished after 5 s']);
  });
});
