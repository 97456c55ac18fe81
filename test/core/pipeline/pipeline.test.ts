import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ClientGone, GatewayError } from '#core/errors.ts';
import type { Logger } from '#core/logger.ts';
import { type NamedStage, Pipeline } from '#core/pipeline/pipeline.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import type { Outcome, Stage } from '#core/pipeline/stage.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../support/exchange.ts';

const reply = (body: string): Reply => ({ status: 200, headers: {}, body });
const outcome: Outcome = {
  kind: 'answered',
  status: 200,
  error: undefined,
  bytesSent: 0,
  duration: 0,
  firstByteAfter: undefined,
};

/** A pipeline of stages that write down what happens to them, `a` first. */
function trace(...stages: Stage[]) {
  const events: string[] = [];
  const log: Logger = { info() {}, warn() {}, error: (message) => void events.push(`log: ${message}`) };
  const named = stages.map((stage, index) => {
    const name = String.fromCharCode(97 + index);
    const traced: Stage = {
      start(exchange) {
        events.push(`${name} start`);
        stage.start?.(exchange);
      },
      enter(exchange) {
        events.push(`${name} enter`);
        return stage.enter?.(exchange);
      },
      leave(exchange, came) {
        events.push(`${name} leave`);
        return stage.leave?.(exchange, came);
      },
      done(exchange, how) {
        events.push(`${name} done`);
        return stage.done?.(exchange, how);
      },
      async [Symbol.asyncDispose]() {
        events.push(`${name} released`);
        await stage[Symbol.asyncDispose]?.();
      },
    };
    return { name, stage: traced };
  });
  return { pipeline: new Pipeline(named, log), events };
}

/** One exchange from begin to finish. */
async function run({ pipeline }: { pipeline: Pipeline }, exchange = createExchange()): Promise<Reply> {
  pipeline.begin(exchange);
  const answer = await pipeline.answer(exchange);
  await pipeline.finish(exchange, outcome);
  return answer;
}

const refuse = (): never => {
  throw new GatewayError('forbidden', 'not today');
};
const fail = (): never => {
  throw new TypeError('a mistake with dp_secret in it');
};

/** Adds to the body on its way out. */
const add = (text: string): Stage => ({ leave: (_exchange, { body }) => reply(`${String(body)}${text}`) });

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
  pipeline.names.push('third');
  expect(pipeline.names).toEqual(['only']);
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

  it('that nobody answers is 501 and says so', async () => {
    const answered = await run(trace({}), createExchange({ endpoint: chatEndpoint }));
    expect(answered.status).toBe(501);
    expect(String(answered.body)).toContain('POST /v1/chat/completions');
  });
});

describe('a refusal', () => {
  it('leaves through the stages that were entered before, not through its own', async () => {
    const traced = trace({}, { enter: refuse }, {});
    expect((await run(traced)).status).toBe(403);
    expect(traced.events.filter((event) => /enter|leave/.test(event))).toEqual(['a enter', 'b enter', 'a leave']);
  });

  it('is done with in every stage, once', async () => {
    const traced = trace({}, { enter: refuse }, {});
    await run(traced);
    expect(traced.events.filter((event) => event.endsWith('done'))).toEqual(['a done', 'b done', 'c done']);
  });

  it('is not logged', async () => {
    const traced = trace({ enter: refuse });
    await run(traced);
    expect(traced.events.filter((event) => event.startsWith('log'))).toEqual([]);
  });

  it('is the failure of its exchange', async () => {
    const exchange = createExchange();
    await run(trace({ enter: refuse }), exchange);
    expect(exchange.failure?.code).toBe('forbidden');
  });

  it('from a promise is one too', async () => {
    expect((await run(trace({ enter: async () => refuse() }))).status).toBe(403);
  });

  it('can be replaced on the way out', async () => {
    const traced = trace({ leave: (_exchange, { status }) => reply(`was ${status}`) }, { enter: refuse });
    expect((await run(traced)).body).toBe('was 403');
  });
});

describe('a mistake in enter', () => {
  it('is a 500 that tells nothing', async () => {
    const answered = await run(trace({ enter: fail }));
    expect(answered.status).toBe(500);
    expect(String(answered.body)).not.toContain('secret');
  });

  it('is logged with the request it happened to', async () => {
    const traced = trace({ enter: fail });
    await run(traced, createExchange({ id: 'req_7' }));
    expect(traced.events).toContain('log: request req_7 ran into a mistake of the gateway');
  });

  it.each([undefined, null, 'text', 5, {}])('that throws %j is a 500 too', async (thrown) => {
    const traced = trace({
      enter: () => {
        throw thrown;
      },
    });
    expect((await run(traced)).status).toBe(500);
  });
});

describe('leave', () => {
  it('gets the reply of the stage behind, and passes on its own', async () => {
    expect((await run(trace(add('1'), add('2'), { enter: () => reply('0') }))).body).toBe('021');
  });

  it('that returns nothing leaves the reply as it is', async () => {
    expect((await run(trace({ leave: async () => undefined }, { enter: () => reply('0') }))).body).toBe('0');
  });

  it('that throws is a 500, through which the stages before leave', async () => {
    const traced = trace({}, { leave: fail }, { enter: () => reply('0') });
    expect((await run(traced)).status).toBe(500);
    expect(traced.events).toContain('a leave');
  });

  it('that refuses is that refusal', async () => {
    expect((await run(trace({ leave: refuse }, { enter: () => reply('0') }))).status).toBe(403);
  });

  it('that throws closes the body that nobody reads any more', async () => {
    const body = new Readable({ read() {} });
    await run(trace({ leave: fail }, { enter: () => ({ status: 200, headers: {}, body }) }));
    expect(body.destroyed).toBe(true);
  });
});

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const streamed = (body: Readable): Reply => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body });
const idle = () => new Readable({ read() {} });
/** Passes another stream on, and its error. */
const wrap = (source: Readable): Readable => {
  const wrapper = idle();
  source.on('data', (chunk) => wrapper.push(chunk));
  source.once('error', (error) => wrapper.destroy(error));
  return wrapper;
};

describe('a stream that breaks before it is sent', () => {
  const broken = new GatewayError('upstream_timeout', 'the upstream was silent');

  it('while a later leave runs is the error that it broke with, and ends no process', async () => {
    const body = idle();
    const exchange = createExchange();
    const leave = async () => {
      body.destroy(broken);
      await nextTurn();
    };
    const answered = await run(trace({ leave }, { enter: () => streamed(body) }), exchange);
    expect([answered.status, exchange.failure]).toEqual([504, broken]);
  });

  it('behind another one, while a later leave runs, is that error too', async () => {
    const body = idle();
    const slow: Stage = {
      async leave() {
        body.destroy(broken);
        await nextTurn();
      },
    };
    const wrapping: Stage = { leave: (_exchange, came) => ({ ...came, body: wrap(came.body as Readable) }) };
    expect((await run(trace(slow, wrapping, { enter: () => streamed(body) }))).status).toBe(504);
  });

  it('is the error when the stage that passes it on began to listen too late', async () => {
    const body = idle();
    let wrapper: Readable | undefined;
    const late: Stage = {
      async leave(_exchange, came) {
        body.destroy(broken);
        await nextTurn();
        wrapper = wrap(body);
        return { ...came, body: wrapper };
      },
    };
    expect((await run(trace(late, { enter: () => streamed(body) }))).status).toBe(504);
    expect(wrapper?.destroyed).toBe(true);
  });

  it('without saying why has been cut', async () => {
    const body = idle();
    const leave = () => void body.destroy();
    expect((await run(trace({ leave }, { enter: () => streamed(body) }))).status).toBe(502);
  });

  it('before any leave is the error', async () => {
    const body = idle();
    body.on('error', () => undefined);
    body.destroy(broken);
    expect((await run(trace({ enter: () => streamed(body) }))).status).toBe(504);
  });

  it('is nobody’s error any more when a stage has answered otherwise', async () => {
    const body = idle();
    const leave = async () => {
      body.destroy(broken);
      await nextTurn();
      return reply('instead');
    };
    const exchange = createExchange();
    const answered = await run(trace({ leave }, { enter: () => streamed(body) }), exchange);
    expect([answered.body, exchange.failure]).toEqual(['instead', undefined]);
  });

  it('leaves through the stages before', async () => {
    const body = idle();
    const headers = { 'x-a': 'b' };
    const leave = () => void body.destroy(broken);
    const marking: Stage = { leave: (_exchange, came) => ({ ...came, headers: { ...came.headers, ...headers } }) };
    const answered = await run(trace(marking, { leave }, { enter: () => streamed(body) }));
    expect([answered.status, answered.headers['x-a']]).toEqual([504, 'b']);
  });
});

describe('start', () => {
  it('that throws is logged and stops nobody', async () => {
    const traced = trace({ start: fail }, { enter: () => reply('hi') });
    expect((await run(traced)).body).toBe('hi');
    expect(traced.events).toContain('log: stage a failed in start');
  });
});

describe('done', () => {
  it.each([
    ['throws', fail],
    ['rejects', async () => fail()],
  ])('that %s is logged, and those behind are done too', async (_how, done) => {
    const traced = trace({ done }, { enter: () => reply('hi') });
    await run(traced);
    expect(traced.events.slice(-3)).toEqual(['a done', 'log: stage a failed in done', 'b done']);
  });

  it('is told how it ended', async () => {
    const told: Outcome[] = [];
    await run(trace({ enter: () => reply('hi'), done: (_exchange, how) => void told.push(how) }));
    expect(told).toEqual([outcome]);
  });

  it('waits for a stage that takes its time', async () => {
    const gate = Promise.withResolvers<void>();
    const traced = trace({ enter: () => reply('hi'), done: () => gate.promise }, {});
    const exchange = createExchange();
    traced.pipeline.begin(exchange);
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

it('an exchange that the gateway gives up is told why', async () => {
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
    pipeline.begin(first);
    pipeline.begin(second);
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
    pipeline.begin(exchange);
    const retired = pipeline.retire();
    const finished = pipeline.finish(exchange, outcome);
    expect(pipeline.running).toBe(1);
    gate.resolve();
    await Promise.all([finished, retired]);
    expect(events.slice(-2)).toEqual(['a done', 'a released']);
  });

  it('releases the others when one cannot be released', async () => {
    const { pipeline, events } = trace({}, { [Symbol.asyncDispose]: fail });
    await pipeline.retire();
    expect(events).toEqual(['b released', 'log: stage b failed to release what it held', 'a released']);
  });
});
