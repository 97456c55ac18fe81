import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { sendHeadersEarly } from '../../../../plugins/upstream/routing/deferred-reply.ts';
import { createExchange } from '../../../support/exchange.ts';
import { textOf } from '../fixture.ts';

const reply: Reply = { status: 200, headers: {}, body: 'data: 1\n\n' };

it('an answer that comes in time is passed on as it is', async () => {
  expect(await sendHeadersEarly(Promise.resolve(reply), 10, createExchange())).toBe(reply);
});

it('a slow answer gets its head early, and follows in that reply', async () => {
  const answer = Promise.withResolvers<Reply>();
  const early = await sendHeadersEarly(answer.promise, 0.01, createExchange());
  expect(early).toMatchObject({ status: 200, isAwaited: true, body: expect.any(Readable) });
  answer.resolve(reply);
  expect(await textOf(early)).toBe('data: 1\n\n');
});
