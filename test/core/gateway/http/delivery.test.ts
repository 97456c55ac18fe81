import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ReplyDelivery } from '#core/gateway/http/delivery.ts';
import type { Serving } from '#core/gateway/http/open-exchange.ts';
import { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import { createExchange } from '../../../support/exchange.ts';
import { reply } from '../pipeline/fixture.ts';

it('an exchange that continues without its client waits for what holds a reply before it sends one', async () => {
  const gate = Promise.withResolvers<void>();
  const pipeline = new Pipeline([{ name: 'holding', stage: { hold: () => gate.promise } }], console);
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const exchange = createExchange();
  const serving = { pipeline, host: { log: console }, writeTimeout: 1 } as unknown as Serving;
  exchange.sender = new ReplyDelivery(exchange, response, serving, () => true);
  const detached = exchange.detach(reply('queued'), async () => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(response.headersSent).toBe(false);
  gate.resolve();
  await detached;
  expect(response.headersSent).toBe(true);
  response.destroy();
});
