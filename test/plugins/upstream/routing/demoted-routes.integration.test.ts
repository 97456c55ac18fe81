import { expect, it } from 'vitest';
import { createUpstream } from '../../../support/faulty-upstream.ts';
import { attemptsOf, createRelayFixture, exchangeFor, refuse, routeTo, serve, upstreamAt } from '../fixture.ts';

it('a demoted route is tried after the others, and still serves when they fail', async () => {
  let backup = serve;
  await using one = await createUpstream(serve);
  await using two = await createUpstream((...call) => backup(...call));
  const first = routeTo(upstreamAt(one.url, { name: 'first' }));
  const second = routeTo(upstreamAt(two.url, { name: 'second' }));
  const fixture = createRelayFixture();
  fixture.demoted.add(first.id);
  const served = exchangeFor([first, second]);
  await fixture.relay(served);
  expect(attemptsOf(served)).toEqual(['second/model-there served 200']);
  backup = refuse(503);
  const failedOver = exchangeFor([first, second]);
  await fixture.relay(failedOver);
  expect(attemptsOf(failedOver)).toEqual(['second/model-there failed 503', 'first/model-there served 200']);
});
