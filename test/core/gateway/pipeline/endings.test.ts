import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../../support/exchange.ts';
import { add, fail, refuse, reply, run, trace } from './fixture.ts';

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

  it('of an asynchronous stage is handled the same way', async () => {
    expect((await run(trace({ enter: async () => refuse() }))).status).toBe(403);
  });

  it('can be replaced on the way out', async () => {
    const traced = trace({ leave: (_exchange, { status }) => reply(`was ${status}`) }, { enter: refuse });
    expect((await run(traced)).body).toBe('was 403');
  });
});

describe('a mistake in enter', () => {
  it('is a 500 without details', async () => {
    const answered = await run(trace({ enter: fail }));
    expect(answered.status).toBe(500);
    expect(String(answered.body)).not.toContain('secret');
  });

  it.each([
    ['ouch', '"ouch"'],
    [undefined, 'undefined'],
    [{ code: 7 }, 'an object of type Object'],
  ])('that throws %j names the stage', async (thrown, written) => {
    const traced = trace({
      enter: () => {
        throw thrown;
      },
    });
    await run(traced, createExchange({ id: 'req_7' }));
    expect(traced.events).toContain(
      `log: request req_7 failed inside the gateway: stage "a" threw ${written}, which is not an Error`,
    );
  });

  it('is logged with the request it happened to', async () => {
    const traced = trace({ enter: fail });
    await run(traced, createExchange({ id: 'req_7' }));
    expect(traced.events).toContain('log: request req_7 failed inside the gateway');
  });

  it('that throws at every request is logged once a minute for each place, whatever its message', async () => {
    let count = 0;
    const traced = trace({
      enter() {
        count++;
        if (count === 3) throw new TypeError('another place');
        throw new Error(`failure ${count}`);
      },
    });
    for (const id of ['req_1', 'req_2', 'req_3', 'req_4']) await run(traced, createExchange({ id }));
    expect(traced.events.filter((event) => event.startsWith('log'))).toEqual([
      'log: request req_1 failed inside the gateway',
      'log: request req_3 failed inside the gateway',
    ]);
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

  it('that throws closes the body, which is no longer read', async () => {
    const body = new Readable({ read() {} });
    await run(trace({ leave: fail }, { enter: () => ({ status: 200, headers: {}, body }) }));
    expect(body.destroyed).toBe(true);
  });
});
