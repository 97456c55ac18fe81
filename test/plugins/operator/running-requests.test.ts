import { expect, it } from 'vitest';
import { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { readEmphasis } from '#core/web/problems/problem.ts';
import { RunningRequests } from '../../../plugins/operator/running-requests.ts';
import { chatEndpoint, createExchange, modelsEndpoint } from '../../support/exchange.ts';

function exchange(receivedAt: number, isMetered = true): Exchange {
  return new Exchange({ ...createExchange({ endpoint: isMetered ? chatEndpoint : modelsEndpoint }), receivedAt });
}

it('running model calls are counted by age until they are over', () => {
  const running = new RunningRequests();
  const [old, young, list] = [exchange(0), exchange(50_000), exchange(0, false)];
  for (const one of [old, young, list]) running.start(one);
  expect(running.countOlderThan(60_000, 60_001)).toBe(1);
  expect(running.countOlderThan(60_000, 60_000)).toBe(0);
  expect(running.countOlderThan(0, 60_000)).toBe(2);
  running.done(old);
  expect(running.countOlderThan(0, 60_000)).toBe(1);
});

it('what matters in a sentence is between asterisks', () => {
  expect(readEmphasis(' paid *Rp 59.000* of *Rp 95.000*')).toEqual([
    { text: ' paid ', isStrong: false },
    { text: 'Rp 59.000', isStrong: true },
    { text: ' of ', isStrong: false },
    { text: 'Rp 95.000', isStrong: true },
  ]);
});
