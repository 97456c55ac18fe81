import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import type { Stage } from '#core/gateway/pipeline/stage.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { createExchange } from '../../../support/exchange.ts';
import { reply, run, trace } from './fixture.ts';

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

  it('fails with its own error if it breaks while a later leave runs, and ends no process', async () => {
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

  it('counts as cut if it gives no error', async () => {
    const body = idle();
    const leave = () => void body.destroy();
    expect((await run(trace({ leave }, { enter: () => streamed(body) }))).status).toBe(502);
  });

  it('fails with its own error if it breaks before any leave', async () => {
    const body = idle();
    body.on('error', () => undefined);
    body.destroy(broken);
    expect((await run(trace({ enter: () => streamed(body) }))).status).toBe(504);
  });

  it('is not recorded as an error when a stage has replaced the answer', async () => {
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
