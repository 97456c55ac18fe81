import { expect, it } from 'vitest';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { countLongCalls, getRunningExchanges } from '#core/gateway/pipeline/running-exchanges.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../../support/exchange.ts';

const exchange = (receivedAt: number, endpoint = chatEndpoint) =>
  new Exchange({ ...createExchange({ endpoint }), receivedAt });

it('running model calls are counted by age until they are over', async () => {
  await using host = createTestHost({ now: 60_001 });
  const running = getRunningExchanges(host);
  const [old] = [exchange(0), exchange(50_000), exchange(0, modelsEndpoint)].map((one) => running.add(one));
  expect(countLongCalls(host, 60_000)).toBe(1);
  host.clock.now = 60_000;
  expect(countLongCalls(host, 60_000)).toBe(0);
  expect(countLongCalls(host, 0)).toBe(2);
  if (old !== undefined) running.remove(old);
  expect(countLongCalls(host, 0)).toBe(1);
});
