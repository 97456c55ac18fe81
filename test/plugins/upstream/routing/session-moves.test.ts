import { beforeEach, expect, it } from 'vitest';
import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { SessionMoves } from '../../../../plugins/upstream/routing/session-moves.ts';
import { CallSessions, SessionLease } from '../../../../plugins/upstream/routing/sessions.ts';
import { routeTo, upstreamAt } from '../fixture.ts';

const session = 'account-7/session of ada@example.com';
const answer = { isFinished: true };
let now: number;
let messages: string[];
let routes: Route[];
let one: CallSessions;
let other: CallSessions;
let foreign: CallSessions;
beforeEach(async () => {
  now = 1_000;
  messages = [];
  const { events } = new MemoryShared();
  await events.subscribe('upstream/sessions', (message) => void messages.push(message));
  const instance = (name: string, secret = 'secret') => {
    const host = { instance: name, shared: { kind: 'redis', events }, log: console } as unknown as Host;
    return new CallSessions({ secret: () => secret, monotonic: () => now, moves: new SessionMoves(host) });
  };
  routes = ['a', 'b', 'c'].map((name) =>
    routeTo(upstreamAt(`http://${name}`, { name, apiKeys: [`${name}-key-1`, `${name}-key-2`] }), { priority: 0 }),
  );
  [one, other, foreign] = [instance('one'), instance('other'), instance('foreign', 'another secret')];
  await Promise.resolve();
});

/** The next turn of the conversation at an instance. */
function seatAt(sessions: CallSessions): SessionLease {
  return new SessionLease(sessions, `m\n${session}`, session, { id: 'm', routes } as unknown as Model);
}

/** A route that the conversation does not go to by its name. */
function backup(): Route {
  return seatAt(one).order[1] as Route;
}

it('a conversation that one instance has moved goes to the same route and key at the others', () => {
  const moved = backup();
  seatAt(one).recordPlace(moved, moved.upstream.apiKeys[1] as string, answer);
  expect(seatAt(other).place).toEqual({ routeId: moved.id, key: moved.upstream.apiKeys[1] });
  expect(seatAt(other).place).toEqual(seatAt(one).place);
});

it('a gateway with another secret cannot find out which conversation has moved', () => {
  const moved = backup();
  seatAt(one).recordPlace(moved, moved.upstream.apiKeys[0] as string, answer);
  expect([foreign.movedCount, seatAt(foreign).place]).toEqual([1, undefined]);
});

it('a moved conversation returns on all instances once one has served it on its usual route, and when its prompt cache has expired', () => {
  const moved = backup();
  seatAt(one).recordPlace(moved, moved.upstream.apiKeys[0] as string, answer);
  const [usual] = seatAt(other).order as [Route];
  for (const key of usual.upstream.apiKeys) seatAt(other).recordPlace(usual, key, answer);
  const places = [seatAt(one).place?.routeId, seatAt(other).place?.routeId];
  expect(places.filter((id) => id === moved.id)).toEqual([]);
  seatAt(one).recordPlace(moved, moved.upstream.apiKeys[0] as string, answer);
  now += 301_000;
  expect([seatAt(one).place, seatAt(other).place]).toEqual([undefined, undefined]);
});

it('each turn keeps a moved conversation on its route, and few turns are announced to other instances', () => {
  const moved = backup();
  for (let turn = 0; turn < 60; turn++, now += 20_000)
    seatAt(turn % 2 === 0 ? one : other).recordPlace(moved, moved.upstream.apiKeys[0] as string, answer);
  expect(seatAt(one).place?.routeId).toBe(moved.id);
  expect(messages.length).toBeLessThan(60 / 4);
});

it('messages name no account, session or key, and others than these are not followed', () => {
  const moved = backup();
  seatAt(one).recordPlace(moved, moved.upstream.apiKeys[0] as string, answer);
  expect(messages).toHaveLength(1);
  expect(messages[0]).not.toMatch(/account|ada|key-1/);
  expect(Object.keys(JSON.parse(String(messages[0])) as object).toSorted()).toEqual([
    'instance',
    'place',
    'seconds',
    'session',
  ]);
});
