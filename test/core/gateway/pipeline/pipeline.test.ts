import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type NamedStage, Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { Outcome, Stage } from '#core/gateway/pipeline/stage.ts';
import { ClientGone, GatewayError } from '#core/platform/errors/table.ts';
import { createExchange, chatEndpoint, modelsEndpoint } from '../../../support/exchange.ts';
import { fail, outcome, refuse, reply, run, trace } from './fixture.ts';

describe('the moments of an exchange', () => {
  it('come down the list, back up, and down again', async () => {
    const traced = trace({}, {}, { enter: () => reply('hi') });
    await run(traced);
    expect(traced.events).toEqual([
      'a start',
      'b start',
      'c start',
      'a enter',
      'b enter',
      'c enter',
      'c leave',
      'b leave',
      'a leave',
      'a done',
      'b done',
      'c done',
    ]);
  });

  it('wait for each other when they are async', async () => {
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const slow: Stage = {
      async enter() {
        await gate.promise;
        order.push('slow');
      },
    };
    const running = run(trace(slow, { enter: () => (order.push('fast'), reply('hi')) }));
    gate.resolve();
    await running;
    expect(order).toEqual(['slow', 'fast']);
  });

  it('let a stage hold the reply, also where an earlier one refuses', async () => {
    for (const first of [{}, { enter: () => refuse() }]) {
      const gate = Promise.withResolvers<void>();
      let isAnswered = false;
      const stages = [first, { hold: () => gate.promise }, { enter: () => reply('hi') }];
      const pipeline = new Pipeline(
        stages.map((stage: Stage, index) => ({ name: `stage ${index}`, stage })),
        console,
      );
      const running = run({ pipeline }).then((answered) => {
        isAnswered = true;
        return answered;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(isAnswered).toBe(false);
      gate.resolve();
      await running;
      expect(isAnswered).toBe(true);
    }
  });

  it('tolerate a stream that breaks while a stage holds its reply', async () => {
    const body = new Readable({ read: () => undefined });
    const holding: Stage = { hold: () => new Promise((resolve) => body.once('close', resolve)) };
    const breaking: Stage = {
      enter() {
        setImmediate(() => body.destroy(new Error('broken')));
        return { ...reply(''), body };
      },
    };
    const pipeline = new Pipeline(
      [holding, breaking].map((stage, index) => ({ name: `stage ${index}`, stage })),
      console,
    );
    await run({ pipeline });
    expect(body.errored?.message).toBe('broken');
  });

  it('give the reply although a stage fails to hold it', async () => {
    const failing: Stage[] = [
      { hold: () => Promise.reject(new Error('broken')) },
      {
        hold() {
          throw new Error('broken');
        },
      },
    ];
    for (const stage of failing) {
      const lines: string[] = [];
      const log = { ...console, error: (line: string) => void lines.push(line) };
      const answering: Stage = { enter: () => reply('hi') };
      const pipeline = new Pipeline(
        [
          { name: 'failing', stage },
          { name: 'answering', stage: answering },
        ],
        log,
      );
      expect((await run({ pipeline })).body).toBe('hi');
      expect(lines).toEqual(['stage "failing" failed in hold']);
    }
  });

  it('may all be missing', async () => {
    const { pipeline } = { pipeline: new Pipeline([{ name: 'empty', stage: {} }], console) };
    const answered = await run(
      { pipeline },
      createExchange({ endpoint: { ...modelsEndpoint, answer: () => reply('x') } }),
    );
    expect(answered.body).toBe('x');
  });

  it('have the stage as this', async () => {
    class Counting implements Stage {
      count = 0;
      start() {
        this.count++;
      }
      enter() {
        this.count++;
        return reply('hi');
      }
      leave() {
        this.count++;
      }
      done() {
        this.count++;
      }
    }
    const stage = new Counting();
    await run({ pipeline: new Pipeline([{ name: 'counting', stage }], console) });
    expect(stage.count).toBe(4);
  });
});

it('a pipeline stays as it was made when the list that it was made from changes', async () => {
  const stages: NamedStage[] = [{ name: 'only', stage: { enter: () => reply('hi') } }];
  const pipeline = new Pipeline(stages, console);
  stages.unshift({ name: 'another', stage: { enter: () => reply('instead') } });
  expect((await run({ pipeline })).body).toBe('hi');
});

describe('an early reply', () => {
  it('keeps the stages behind from being entered, and from leaving', async () => {
    const traced = trace({}, { enter: () => reply('early') }, {});
    expect((await run(traced)).body).toBe('early');
    expect(traced.events.filter((event) => /enter|leave/.test(event))).toEqual([
      'a enter',
      'b enter',
      'b leave',
      'a leave',
    ]);
  });

  it('is done with in every stage all the same', async () => {
    const traced = trace({ enter: () => reply('early') }, {});
    await run(traced);
    expect(traced.events.filter((event) => event.endsWith('done'))).toEqual(['a done', 'b done']);
  });

  it('comes before a function that an earlier stage has given', async () => {
    const traced = trace({ enter: () => () => reply('deferred') }, { enter: () => reply('early') });
    expect((await run(traced)).body).toBe('early');
  });
});

describe('a function that enter returns', () => {
  it('answers after the stages behind have entered', async () => {
    const order: string[] = [];
    const first: Stage = { enter: () => () => (order.push('answer'), reply('deferred')) };
    const answered = await run(trace(first, { enter: () => void order.push('behind') }));
    expect([answered.body, order]).toEqual(['deferred', ['behind', 'answer']]);
  });

  it('is the first of several', async () => {
    const traced = trace({ enter: () => () => reply('first') }, { enter: () => () => reply('second') });
    expect((await run(traced)).body).toBe('first');
  });

  it('may come from a promise, and give one', async () => {
    expect((await run(trace({ enter: async () => async () => reply('late') }))).body).toBe('late');
  });

  it('that refuses leaves through every stage', async () => {
    const traced = trace({ enter: () => refuse }, {});
    expect((await run(traced)).status).toBe(403);
    expect(traced.events).toContain('b leave');
  });

  it('comes before the endpoint’s own answer', async () => {
    const endpoint = { ...modelsEndpoint, answer: () => reply('endpoint') };
    const answered = await run(trace({ enter: () => () => reply('stage') }), createExchange({ endpoint }));
    expect(answered.body).toBe('stage');
  });
});

describe('an endpoint', () => {
  it('answers itself after every stage has entered', async () => {
    const order: string[] = [];
    const endpoint = { ...modelsEndpoint, answer: () => (order.push('answer'), reply('list')) };
    await run(trace({ enter: () => void order.push('enter') }), createExchange({ endpoint }));
    expect(order).toEqual(['enter', 'answer']);
  });

  it('that no stage answers is refused with a message', async () => {
    const answered = await run(trace({}), createExchange({ endpoint: chatEndpoint }));
    expect(answered.status).toBe(400);
    expect(String(answered.body)).toContain('POST /v1/chat/completions');
  });
});

describe('start', () => {
  it('that throws is logged and does not stop the other stages', async () => {
    const traced = trace({ start: fail }, { enter: () => reply('hi') });
    expect((await run(traced)).body).toBe('hi');
    expect(traced.events).toContain('log: stage "a" failed in start');
  });
});

describe('done', () => {
  it.each([
    ['throws', fail],
    ['rejects', async () => fail()],
  ])('that %s is logged, and those behind are done too', async (_how, done) => {
    const traced = trace({ done }, { enter: () => reply('hi') });
    await run(traced);
    expect(traced.events.slice(-3)).toEqual(['a done', 'log: stage "a" failed in done', 'b done']);
  });

  it('gets the outcome of the exchange', async () => {
    const told: Outcome[] = [];
    await run(trace({ enter: () => reply('hi'), done: (_exchange, how) => void told.push(how) }));
    expect(told).toEqual([outcome]);
  });

  it('waits for a stage that takes its time', async () => {
    const gate = Promise.withResolvers<void>();
    const traced = trace({ enter: () => reply('hi'), done: () => gate.promise }, {});
    const exchange = createExchange();
    traced.pipeline.start(exchange);
    await traced.pipeline.answer(exchange);
    const finished = traced.pipeline.finish(exchange, outcome);
    expect(traced.events).not.toContain('b done');
    gate.resolve();
    await finished;
    expect(traced.events).toContain('b done');
  });
});

describe('an exchange whose client leaves', () => {
  it('enters no further stage', async () => {
    const exchange = createExchange();
    const traced = trace({ enter: () => exchange.abort(new ClientGone()) }, {});
    await run(traced, exchange);
    expect(traced.events).not.toContain('b enter');
  });

  it('leaves through the stage in which it was noticed', async () => {
    const exchange = createExchange();
    const traced = trace({ enter: () => exchange.abort(new ClientGone()) }, {});
    await run(traced, exchange);
    expect(traced.events).toContain('a leave');
  });

  it('is no mistake to be logged', async () => {
    const exchange = createExchange();
    const traced = trace({ enter: () => exchange.abort(new ClientGone()) });
    await run(traced, exchange);
    expect(traced.events.filter((event) => event.startsWith('log'))).toEqual([]);
    expect(exchange.failure).toBeUndefined();
  });

  it('closes the body of a reply that came too late', async () => {
    const exchange = createExchange();
    const body = new Readable({ read() {} });
    const enter = () => {
      exchange.abort(new ClientGone());
      return { status: 200, headers: {}, body };
    };
    await run(trace({ enter }), exchange);
    expect(body.destroyed).toBe(true);
  });
});

it('a stage that passes with null on an aborted exchange does not hide the reason', async () => {
  const exchange = createExchange();
  const enter = (() => {
    exchange.abort(new GatewayError('shutting_down', 'the gateway stops'));
    return null;
  }) as unknown as NonNullable<Stage['enter']>;
  const traced = trace({ enter });
  expect((await run(traced, exchange)).status).toBe(503);
  expect(traced.events.filter((event) => event.startsWith('log'))).toEqual([]);
});

it('an exchange that the gateway aborts has the reason on its signal', async () => {
  const exchange = createExchange();
  const reason = new GatewayError('shutting_down', 'the gateway stops');
  expect((await run(trace({ enter: () => exchange.abort(reason) }), exchange)).status).toBe(503);
});

describe('a retired pipeline', () => {
  it('releases its stages, last made first', async () => {
    const { pipeline, events } = trace({}, {});
    await pipeline.retire();
    expect(events).toEqual(['b released', 'a released']);
  });

  it('waits for every exchange under way', async () => {
    const { pipeline, events } = trace({});
    const [first, second] = [createExchange(), createExchange()];
    pipeline.start(first);
    pipeline.start(second);
    const retired = pipeline.retire();
    await pipeline.finish(first, outcome);
    expect(events).not.toContain('a released');
    await pipeline.finish(second, outcome);
    await retired;
    expect(events.at(-1)).toBe('a released');
  });

  it('waits for what the stages do in done', async () => {
    const gate = Promise.withResolvers<void>();
    const { pipeline, events } = trace({ done: () => gate.promise });
    const exchange = createExchange();
    pipeline.start(exchange);
    const retired = pipeline.retire();
    const finished = pipeline.finish(exchange, outcome);
    expect(pipeline.exchangesInFlight).toBe(1);
    gate.resolve();
    await Promise.all([finished, retired]);
    expect(events.slice(-2)).toEqual(['a done', 'a released']);
  });

  it('releases the others when one cannot be released', async () => {
    const { pipeline, events } = trace({}, { [Symbol.asyncDispose]: fail });
    await pipeline.retire();
    expect(events).toEqual(['b released', 'log: stage "b" failed to release its resources', 'a released']);
  });
});
