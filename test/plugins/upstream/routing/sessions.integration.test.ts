import { beforeEach, describe, expect, it } from 'vitest';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream, type Handler } from '../../../support/faulty-upstream.ts';
import { content, exchangeFor, finish, refuse, routeTo, serve, textOf, upstreamAt, useRelay } from '../fixture.ts';

const fixture = useRelay();
beforeEach(() => {
  fixture.secret = 'of the installation';
});

/** Routes of one priority, with two keys each. */
const equal = (...upstreams: readonly FaultyUpstream[]) => routesTo(upstreams, () => ({ priority: 0 }));
function routesTo(
  upstreams: readonly FaultyUpstream[],
  settings: (index: number) => Partial<Route>,
  keys = ['a', 'b'],
): Route[] {
  return upstreams.map(({ url }, index) => {
    const name = `u${index}`;
    return routeTo(upstreamAt(url, { name, apiKeys: keys.map((key) => `${name}-${key}`) }), settings(index));
  });
}

/** How many requests each key has had, the most first. */
function usesOf(...upstreams: readonly FaultyUpstream[]): number[] {
  const keys = upstreams.flatMap(({ requests }) => requests.map(({ headers }) => headers['authorization']));
  return [...Map.groupBy(keys, (key) => key).values()].map(({ length }) => length).toSorted((a, b) => b - a);
}

type TextFormat = 'chat' | 'responses' | 'messages' | 'gemini';

/** The bodies of a conversation's turns: instructions and tools differ at each, as agents write the time there. */
const bodies: Readonly<Record<TextFormat, (question: string, turn: number) => JsonObject>> = {
  chat: (question, turn) => ({
    model: 'test',
    messages: [
      { role: 'system', content: `It is turn ${turn}.` },
      { role: 'user', content: question },
      ...said(turn, (role, text) => ({ role, content: text })),
    ],
  }),
  responses: (question, turn) => ({
    model: 'test',
    instructions: `It is turn ${turn}.`,
    input:
      turn === 0
        ? question
        : [{ role: 'user', content: question }, ...said(turn, (role, text) => ({ role, content: text }))],
  }),
  messages: (question, turn) => ({
    model: 'test',
    max_tokens: 100,
    system: [{ type: 'text', text: `It is turn ${turn}.` }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: question }] },
      ...said(turn, (role, text) => ({ role, content: [{ type: 'text', text }] })),
    ],
  }),
  gemini: (question, turn) => ({
    systemInstruction: { parts: [{ text: `It is turn ${turn}.` }] },
    contents: [
      { role: 'user', parts: [{ text: question }] },
      ...said(turn, (role, text) => ({ role: role === 'user' ? role : 'model', parts: [{ text }] })),
    ],
  }),
};
const formats = Object.keys(bodies) as TextFormat[];

function said(turns: number, write: (role: string, text: string) => JsonObject): JsonObject[] {
  return Array.from({ length: turns }, (_, turn) => [
    write('assistant', `answer ${turn}`),
    write('user', `question ${turn}`),
  ]).flat();
}

interface Conversation {
  readonly format?: TextFormat;
  readonly question?: string;
  readonly session?: string;
  readonly account?: string;
}

async function ask(
  routes: readonly Route[],
  turn: number,
  { format = 'chat', question = 'hello', session, account = 'one' }: Conversation = {},
): Promise<void> {
  const headers: Record<string, string> = session === undefined ? {} : { 'x-session-id': session };
  const exchange = exchangeFor(routes, { format, account, headers, body: bodies[format](question, turn) });
  await textOf(await fixture.relay(exchange));
}

describe('a conversation of 38 turns over three routes with two keys each', () => {
  it.each(formats.flatMap((format) => [undefined, 's-1'].map((session) => [format, session] as const)))(
    'stays with one key (%s, session %s)',
    async (format, session) => {
      await using first = await createUpstream(serve);
      await using second = await createUpstream(serve);
      await using third = await createUpstream(serve);
      const routes = equal(first, second, third);
      for (let turn = 0; turn < 38; turn++)
        await ask(routes, turn, { format, ...(session !== undefined && { session }) });
      expect(usesOf(first, second, third)[0]).toBeGreaterThanOrEqual(37);
    },
  );

  it('stays with the same key on another instance with the same secret, and nothing else in common', async () => {
    await using first = await createUpstream(serve);
    await using second = await createUpstream(serve);
    const routes = equal(first, second);
    for (let turn = 0; turn < 10; turn++) {
      fixture.reopen();
      fixture.secret = 'of the installation';
      await ask(routes, turn);
    }
    expect(usesOf(first, second)).toEqual([10]);
  });

  it('does not, where the same words are those of other accounts', async () => {
    await using first = await createUpstream(serve);
    await using second = await createUpstream(serve);
    const routes = equal(first, second);
    for (let index = 0; index < 40; index++) await ask(routes, 0, { account: `account ${index}` });
    expect(usesOf(first, second)).toHaveLength(4);
  });
});

it('a thousand conversations of one account spread over routes by their weight', async () => {
  const weights = [3, 1, 1];
  const routes = weights.map((weight, index) =>
    routeTo(upstreamAt(`http://u${index}`, { name: `u${index}`, apiKeys: [`${index}a`, `${index}b`] }), {
      priority: 0,
      weight,
    }),
  );
  const counts = new Map<string, number>();
  const total = 1_000;
  for (let index = 0; index < total; index++) {
    const exchange = exchangeFor(routes, { account: 'one', prompt: `conversation ${index}` });
    const seat = fixture.sessions.createLease(exchange);
    const [route] = seat?.order ?? [];
    if (seat === undefined || route === undefined) throw new Error('it has no session');
    for (const name of [route.upstream.name, fixture.keys(route).pickKey(0, route.model, seat.session)])
      counts.set(name, (counts.get(name) ?? 0) + 1 / total);
  }
  for (const [index, weight] of weights.entries()) {
    expect(Math.abs((counts.get(`u${index}`) ?? 0) - weight / 5)).toBeLessThan(0.05);
    for (const key of ['a', 'b'])
      expect(Math.abs((counts.get(`${index}${key}`) ?? 0) - weight / 10)).toBeLessThan(0.05);
  }
});

describe('a conversation whose route fails', () => {
  it('has one cold turn, and stays where it went when the route is back', async () => {
    let play = serve;
    await using first = await createUpstream((request, response) => play(request, response));
    await using second = await createUpstream(serve);
    const routes = routesTo([first, second], (priority) => ({ priority }));
    for (let turn = 0; turn < 3; turn++) await ask(routes, turn);
    play = refuse(503);
    await ask(routes, 3);
    play = serve;
    for (let turn = 4; turn < 12; turn++) {
      fixture.now += 299_000;
      await ask(routes, turn);
    }
    expect([first.requests.length, usesOf(second)]).toEqual([4, [9]]);
    // Others go by priority meanwhile.
    await ask(routes, 0, { question: 'another' });
    expect(first.requests).toHaveLength(5);
  });

  it('goes back to the first priority once its prompt is no longer cached', async () => {
    await using first = await createUpstream([refuse(503), serve, serve]);
    await using second = await createUpstream(serve);
    const routes = routesTo([first, second], (priority) => ({ priority }));
    for (let turn = 0; turn < 3; turn++) await ask(routes, turn);
    fixture.now += 300_001;
    for (let turn = 3; turn < 5; turn++) await ask(routes, turn);
    expect([first.requests.length, second.requests.length]).toEqual([3, 3]);
    expect(fixture.sessions.movedCount).toBe(0);
  });

  it('goes on to another key when its own is throttled, and stays with that', async () => {
    let throttled = '';
    const upstream = await createUpstream((request, response) =>
      (request.headers['authorization'] === throttled ? refuse(429, { 'retry-after': '10' }) : serve)(
        request,
        response,
      ),
    );
    await using _upstream = upstream;
    const routes = routesTo([upstream], () => ({ priority: 0 }), ['a', 'b', 'c']);
    await ask(routes, 0);
    throttled = String(upstream.requests[0]?.headers['authorization']);
    await ask(routes, 1);
    throttled = '';
    fixture.now += 20_000;
    for (let turn = 2; turn < 8; turn++) await ask(routes, turn);
    expect(usesOf(upstream)).toEqual([7, 2]);
  });

  it('does not stay with a route that fails it or has no key left', async () => {
    await using first = await createUpstream([refuse(503), serve]);
    await using second = await createUpstream([serve, refuse(429, { 'retry-after': '60' })]);
    const routes = routesTo([first, second], (priority) => ({ priority }), ['a']);
    for (let turn = 0; turn < 2; turn++) await ask(routes, turn);
    expect([first.requests.length, second.requests.length]).toEqual([2, 2]);
  });
});

/** Answers when it is told to. */
function holding(): { readonly handler: Handler; readonly release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { handler: async (request, response) => (await promise, serve(request, response)), release: resolve };
}

describe('requests of one session that run at the same time', () => {
  it.each([undefined, 'always the same'])('are spread over all keys (session %s)', async (session) => {
    const { handler, release } = holding();
    await using first = await createUpstream(handler);
    await using second = await createUpstream(handler);
    await using third = await createUpstream(handler);
    const routes = equal(first, second, third);
    const asked = Array.from({ length: 36 }, (_, index) => {
      const named = session === undefined ? { question: 'classify' } : { question: 'classify', session };
      return ask(routes, 0, session === undefined ? named : { ...named, question: `classify ${index}` });
    });
    const all = () => usesOf(first, second, third).reduce((sum, uses) => sum + uses, 0);
    // On a busy machine, some are sent on two routes at once.
    await expect.poll(all, { timeout: 10_000 }).toBeGreaterThanOrEqual(36);
    release();
    await Promise.all(asked);
    const uses = usesOf(first, second, third);
    expect(uses).toHaveLength(6);
    expect(uses[0]).toBeLessThan(all() / 2);
  });

  it('keep conversations of a named session apart: each stays with its key', async () => {
    const { handler, release } = holding();
    let play = handler;
    const script: Handler = (request, response) => play(request, response);
    await using first = await createUpstream(script);
    await using second = await createUpstream(script);
    await using third = await createUpstream(script);
    const upstreams = [first, second, third];
    const routes = equal(...upstreams);
    const session = 'of an agent with another agent';
    const running = ask(routes, 0, { session, question: 'main' });
    await expect.poll(() => usesOf(...upstreams).length).toBe(1);
    play = serve;
    for (let turn = 0; turn < 10; turn++) await ask(routes, turn, { session, question: 'task' });
    release();
    await running;
    expect(usesOf(...upstreams)[0]).toBeGreaterThanOrEqual(10);
  });

  it('are not those whose answer is whole, although its stream has not been closed', async () => {
    const closing = Promise.withResolvers<void>();
    const lingering: Handler = async (_request, response) => {
      response.sse(content('hi'), finish);
      await closing.promise;
      response.end();
    };
    await using first = await createUpstream(lingering);
    await using second = await createUpstream(lingering);
    const routes = equal(first, second);
    const replies = [];
    for (let turn = 0; turn < 8; turn++) {
      const reply = await fixture.relay(exchangeFor(routes, { isStream: true, account: 'one' }));
      replies.push(textOf(reply));
    }
    closing.resolve();
    await Promise.all(replies);
    expect(usesOf(first, second)).toEqual([8]);
  });

  it('leave nothing behind', async () => {
    await using first = await createUpstream([refuse(400), serve, serve]);
    await using second = await createUpstream([refuse(400), serve, serve]);
    const routes = equal(first, second);
    await ask(routes, 0).catch(() => undefined);
    for (let turn = 0; turn < 2; turn++) await ask(routes, turn);
    expect(usesOf(first, second)).toEqual([3]);
  });
});

describe('a request that is no turn of a conversation', () => {
  it('has no session, and neither has a request with only one route', () => {
    const upstream = upstreamAt('http://u', { apiKeys: ['a'] });
    expect(fixture.sessions.createLease(exchangeFor([routeTo(upstream)]))).toBeUndefined();
    const both = [routeTo(upstream), routeTo(upstreamAt('http://v', { name: 'v' }))];
    expect(fixture.sessions.createLease(exchangeFor(both))).toBeDefined();
    fixture.secret = undefined;
    expect(fixture.sessions.createLease(exchangeFor(both))).toBeUndefined();
    expect(fixture.sessions.createLease(exchangeFor(both, { headers: { 'session-id': 's' } }))?.session).toBe('/s');
  });
});
