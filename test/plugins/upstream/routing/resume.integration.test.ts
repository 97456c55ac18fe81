import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { delivery } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { createUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import {
  attemptsOf,
  breakingOff,
  content,
  exchangeFor,
  finish,
  refusalOf,
  routesTo,
  textOf,
  useRelay,
} from '../fixture.ts';

const fixture = useRelay();

const ending =
  (said: string): Handler =>
  (_request, response) => {
    response.sse(content(said), finish, '[DONE]');
    response.end();
  };

const exchangeOver = (urls: readonly string[]): Exchange => {
  const routes = routesTo(...urls);
  return exchangeFor(routes, { isStream: true, resume: true });
};
const said = (stream: string) => [...stream.matchAll(/"content":"([^"]+)"/g)].map(([, text]) => text).join('');

it('a continuation comes from the next route', async () => {
  await using first = await createUpstream(breakingOff('It was ', fixture));
  await using second = await createUpstream(ending('night.'));
  const exchange = exchangeOver([first.url, second.url]);
  expect(said(await textOf(await fixture.relay(exchange)))).toBe('It was night.');
  expect(attemptsOf(exchange)).toEqual(['u0/model-there failed 200', 'u1/model-there served 200']);
});

it('a continuation is one of the attempts that a request may have', async () => {
  fixture.reopen({ maxAttempts: 1 });
  await using first = await createUpstream(breakingOff('It was ', fixture));
  await using second = await createUpstream(ending('night.'));
  const exchange = exchangeOver([first.url, second.url]);
  const reply = await fixture.relay(exchange);
  expect((await refusalOf(textOf(reply))).code).toBe('upstream_failed');
  expect(second.requests).toHaveLength(0);
});

it('a continuation is requested however long the answer took until then', async () => {
  fixture.reopen({ deadline: 60 });
  const gate = Promise.withResolvers<void>();
  await using first = await createUpstream(breakingOff('It was ', { firstReply: gate.promise }));
  await using second = await createUpstream(ending('night.'));
  const exchange = exchangeOver([first.url, second.url]);
  let elapsed = 0; // ms
  Object.defineProperty(exchange, 'elapsed', { get: () => elapsed });
  const reply = await fixture.relay(exchange);
  elapsed = 600_000;
  gate.resolve();
  expect(said(await textOf(reply))).toBe('It was night.');
});

it('a continuation is not requested when the deadline had passed before the answer began', async () => {
  fixture.reopen({ deadline: 60 });
  const gate = Promise.withResolvers<void>();
  await using first = await createUpstream(async (request, response) => {
    await gate.promise;
    await breakingOff('It was ', fixture)(request, response);
  });
  await using second = await createUpstream(ending('night.'));
  const exchange = exchangeOver([first.url, second.url]);
  let elapsed = 0; // ms
  Object.defineProperty(exchange, 'elapsed', { get: () => elapsed });
  const relayed = fixture.relay(exchange);
  await first.waitForRequest(1);
  elapsed = 600_000;
  gate.resolve();
  expect((await refusalOf(textOf(await relayed))).code).toBe('upstream_failed');
  expect(second.requests).toHaveLength(0);
});

it('a continuation that comes whole although a stream was requested is accepted', async () => {
  await using first = await createUpstream(breakingOff('It was ', fixture));
  await using second = await createUpstream((_request, response) =>
    response.json(200, { choices: [{ index: 0, message: { content: 'It was night.' }, finish_reason: 'stop' }] }),
  );
  const exchange = exchangeOver([first.url, second.url]);
  const stream = await textOf(await fixture.relay(exchange));
  expect(said(stream)).toBe('It was night.');
  expect(stream.match(/\[DONE\]/g)).toHaveLength(1);
});

it('what a slow reader has not read yet comes before the continuation', async () => {
  const long = Array.from({ length: 200 }, (_, index) => `${index}:${'x'.repeat(4_000)} `);
  await using first = await createUpstream(async (_request, response) => {
    response.sse();
    for (const piece of long) void response.event(content(piece));
    await response.event(content('broken off'));
    response.cut();
  });
  await using second = await createUpstream(ending(' and gone on'));
  const exchange = exchangeOver([first.url, second.url]);
  const stream = await textOf(await fixture.relay(exchange));
  expect(said(stream)).toBe(`${long.join('')}broken off and gone on`);
});

it('a text too long to be continued breaks off', async () => {
  const piece = 'x'.repeat(64 * 1024);
  await using first = await createUpstream(async (_request, response) => {
    response.sse();
    for (let count = 0; count < 17; count++) await response.event(content(piece));
    response.cut();
  });
  await using second = await createUpstream(ending('night.'));
  const reply = await fixture.relay(exchangeOver([first.url, second.url]));
  expect((await refusalOf(textOf(reply))).code).toBe('upstream_failed');
  expect(second.requests).toHaveLength(0);
});

it('a reader that destroys the body closes the upstream that is silent', async () => {
  fixture.reopen({ idleTimeout: 600 });
  await using first = await createUpstream((_request, response) => response.sse(content('a')));
  const exchange = exchangeOver([first.url, first.url]);
  const body = (await fixture.relay(exchange)).body as Readable;
  await new Promise((resolve) => body.once('data', resolve));
  body.destroy();
  expect(await first.waitForClose(1)).toBe('client left');
  expect(first.requests).toHaveLength(1);
  expect(exchange.get(delivery).attempts).toHaveLength(1);
});
