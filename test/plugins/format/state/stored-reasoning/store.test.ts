import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Model } from '#core/config/catalog/catalog.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { principal } from '#core/gateway/facts.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { type GroupCache, SharedUnavailable } from '#core/platform/shared/shared.ts';
import type { CompleteReply } from '../../../../../plugins/format/canonical/reply.ts';
import type { ClientRequest } from '../../../../../plugins/format/request/client-request.ts';
import { ReasoningStore } from '../../../../../plugins/format/state/stored-reasoning/store.ts';
import { createExchange } from '../../../../support/exchange.ts';
import type { TextFormat } from '../../../../support/formats.ts';
import { modelOf } from '../../catalog/catalog-fixture.ts';
import { requestOf } from '../../invariants/fixture.ts';

const asks = { role: 'user', content: 'look' };
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
};
/** The call as it is looked up. */
const kept = (id: string, input = '{}') => ({ id, name: 'look', input });
const history = [asks, called, { role: 'tool', tool_call_id: 'call_1', content: 'there' }];
const model = modelOf('test', ['responses']);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A host with these groups. */
function hostWith(groups: Partial<GroupCache>) {
  const host = createTestHost();
  const get = vi.fn<GroupCache['get']>(async () => new Map());
  const set = vi.fn<GroupCache['set']>(async () => undefined);
  const both = { get, set, ...groups };
  return { ...host, groups: both, shared: { ...host.shared, groups: both } };
}

function exchangeOf(accountId: string | undefined = 'acc_1') {
  const exchange = createExchange();
  if (accountId === undefined) return exchange;
  exchange.set(principal, { accountId, keyId: 'k', keyHint: 'h', limits: undefined, requestCount: 0 });
  return exchange;
}

const chatRequest = (messages: JsonObject[], more: JsonObject = { tools: [{}] }): ClientRequest =>
  requestOf('chat', { messages, ...more });

/** @param text of the reasoning; empty for a call without any */
const reply = (text: string, id = 'call_1', input = '{}'): CompleteReply => ({
  blocks: [
    ...(text === '' ? [] : [{ type: 'reasoning', text, state: 'dps1e00000000.rs_1:ENC', isRedacted: false } as const]),
    { type: 'tool_call', id, name: 'look', namespace: undefined, form: 'function', input },
  ],
  finish: 'tool_calls',
  stopSequence: undefined,
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
});

describe('the store is not asked', () => {
  it.each<[string, ClientRequest, Model?, string?]>([
    ['without calls in the history', chatRequest([asks])],
    ['without tools', chatRequest(history, {})],
    ['for a format that has a place for the state', requestOf('responses', { input: 'hi', tools: [{}] })],
    ['where the client returns the state', chatRequest([asks, { ...called, reasoning_details: [{}] }])],
    ['where no route wants anything back', chatRequest(history), modelOf('test', ['chat'])],
  ])('%s', async (_name, request, to = model) => {
    const host = hostWith({});
    await new ReasoningStore(host, 24).attachReasoning(exchangeOf(), request, to);
    expect(host.groups.get).not.toHaveBeenCalled();
  });

  it('for a caller without an account, or if it is switched off', async () => {
    const host = hostWith({});
    const request = chatRequest(history);
    expect(await new ReasoningStore(host, 24).attachReasoning(createExchange(), request, model)).toBe(request);
    expect(await new ReasoningStore(host, 0).attachReasoning(exchangeOf(), request, model)).toBe(request);
    expect(host.groups.get).not.toHaveBeenCalled();
  });
});

describe('the reasoning before a call', () => {
  it('kept reasoning is found by the id of its call', async () => {
    const store = new ReasoningStore(createTestHost(), 24);
    const first = await store.attachReasoning(exchangeOf(), chatRequest([asks]), model);
    first.storedReasoning?.store(reply('Hm.'));
    const next = await store.attachReasoning(exchangeOf(), chatRequest(history), model);
    expect(next.storedReasoning?.findBefore([kept('call_2'), kept('call_1')])).toMatchObject([
      [],
      [{ text: 'Hm.', state: { data: 'rs_1:ENC' }, followsText: false }],
    ]);
    const other = await store.attachReasoning(exchangeOf('acc_2'), chatRequest(history), model);
    expect(other.storedReasoning?.findBefore([kept('call_1')])).toEqual([[]]);
  });

  it('reasoning over its size limit is not kept', async () => {
    const host = hostWith({});
    const opened = await new ReasoningStore(host, 24).attachReasoning(exchangeOf(), chatRequest([asks]), model);
    opened.storedReasoning?.store(reply('x'.repeat(bounds.storedReasoning)));
    expect(host.groups.set).not.toHaveBeenCalled();
  });

  it('the reasoning of all calls is read in one round trip', async () => {
    const host = hostWith({});
    const messages = [...history, ...[2, 3].map((id) => ({ ...called, tool_calls: [{ id: `call_${id}` }] }))];
    await new ReasoningStore(host, 24).attachReasoning(exchangeOf(), chatRequest(messages), model);
    expect(host.groups.get).toHaveBeenCalledExactlyOnceWith('reasoning:acc_1', Array(3).fill(expect.any(String)));
  });
});

describe('ids that repeat', () => {
  /** A step of a tool loop: the call, and the thoughts that led to it. */
  type Step = readonly [id: string, input: string, thoughts: string];

  /** Plays the steps with one store, as a client that returns its calls only. */
  async function played(steps: readonly Step[]): Promise<ReasoningStore> {
    const store = new ReasoningStore(createTestHost(), 24);
    for (const [index, [id, input, thoughts]] of steps.entries()) {
      const request = await store.attachReasoning(exchangeOf(), chatRequest(historyOf(steps.slice(0, index))), model);
      request.storedReasoning?.store(reply(thoughts, id, input));
    }
    return store;
  }

  function historyOf(steps: readonly Step[]): JsonObject[] {
    const answers = steps.flatMap(([id, input]) => [
      { role: 'assistant', tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: input } }] },
      { role: 'tool', tool_call_id: id, content: 'there' },
    ]);
    return [asks, ...answers];
  }

  /** The thoughts that each call of a history gets back. */
  async function restored(store: ReasoningStore, steps: readonly Step[]): Promise<string[]> {
    const request = await store.attachReasoning(exchangeOf(), chatRequest(historyOf(steps)), model);
    const found = request.storedReasoning?.findBefore(steps.map(([id, input]) => kept(id, input))) ?? [];
    return found.map((thoughts) => thoughts.map(({ text }) => text).join());
  }

  const steps: readonly Step[] = [
    ['call_0', '{"at":1}', 'one'],
    ['call_0', '{"at":2}', 'two'],
    ['call_0', '{"at":1}', 'three'],
    ['call_0', '{"at":3}', ''],
    ['call_0', '{"at":1}', ''],
    ['call_0', '{"at":1}', 'six'],
  ];

  it('each call gets its own reasoning back', async () => {
    const store = await played(steps);
    expect(await restored(store, steps)).toEqual(['one', 'two', 'three', '', '', 'six']);
  });

  it('a history whose first turns were pruned gets that of the calls it still has', async () => {
    const store = await played(steps);
    for (let pruned = 1; pruned < steps.length; pruned++) {
      const left = steps.slice(pruned);
      expect(await restored(store, left)).toEqual(left.map(([, , thoughts]) => thoughts));
    }
  });

  it('the loop goes on after its first turns were pruned', async () => {
    const store = await played(steps);
    const left = steps.slice(4);
    const request = await store.attachReasoning(exchangeOf(), chatRequest(historyOf(left)), model);
    request.storedReasoning?.store(reply('seven', 'call_0', '{"at":1}'));
    expect(await restored(store, [...left, ['call_0', '{"at":1}', 'seven']])).toEqual(['', 'six', 'seven']);
  });

  it('reasoning of another call with the same id is not found', async () => {
    const store = await played(steps.slice(0, 1));
    expect(await restored(store, [['call_0', '{"at":9}', '']])).toEqual(['']);
  });

  it('a client may write arguments in its own way', async () => {
    const store = await played([['call_0', '{"at": 1, "in": {"b":2,"a":[]}}', 'one']]);
    expect(await restored(store, [['call_0', '{"in":{"a":[],"b":2},"at":1}', '']])).toEqual(['one']);
  });

  it('the oldest of equal calls lose theirs when there is no room', async () => {
    const long = 'x'.repeat(bounds.storedReasoning * 0.6);
    const equal: readonly Step[] = ['a', 'b', 'c'].map((text) => ['call_0', '{}', `${text}${long}`]);
    const store = await played(equal);
    expect((await restored(store, equal)).map(([first]) => first)).toEqual([undefined, undefined, 'c']);
  });
});

async function down(): Promise<never> {
  throw new SharedUnavailable('Redis did not respond');
}

describe('a failing store of reasoning', () => {
  it('a slow store delays a request by at most 50 ms', async () => {
    const host = hostWith({ get: vi.fn<GroupCache['get']>(() => new Promise(() => undefined)) });
    const opened = vi.fn<(request: ClientRequest) => void>();
    const opening = new ReasoningStore(host, 24).attachReasoning(exchangeOf(), chatRequest(history), model);
    void Promise.resolve(opening).then(opened);
    await vi.advanceTimersByTimeAsync(49);
    expect(opened).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(opened).toHaveBeenCalledOnce();
  });

  it('a store that has failed is asked again by the next request', async () => {
    const get = vi.fn<GroupCache['get']>(async () => new Map()).mockImplementationOnce(down);
    const store = new ReasoningStore(hostWith({ get }), 24);
    for (let count = 0; count < 2; count++) await store.attachReasoning(exchangeOf(), chatRequest(history), model);
    expect(get).toHaveBeenCalledTimes(2);
  });

  it('a failing store fails no request and is reported once', async () => {
    const host = hostWith({ get: down, set: down });
    const store = new ReasoningStore(host, 24);
    const request = await store.attachReasoning(exchangeOf(), chatRequest(history), model);
    expect(request.storedReasoning?.findBefore([kept('call_1')])).toEqual([[]]);
    request.storedReasoning?.store(reply('Hm.'));
    await vi.advanceTimersByTimeAsync(0);
    expect(host.lines).toEqual([
      expect.stringContaining('could not restore the reasoning from earlier turns: Redis did not'),
    ]);
  });
});

it.each<[TextFormat, JsonObject]>([
  ['messages', { thinking: { type: 'adaptive' } }],
  ['gemini', {}],
])('a client of %s that returns the state is not served', async (format, asked) => {
  const request = requestOf(format, { tools: [{}], ...asked });
  expect(await new ReasoningStore(createTestHost(), 24).attachReasoning(exchangeOf(), request, model)).toBe(request);
});

it('a client of Messages is not served where all routes speak its format', async () => {
  const request = requestOf('messages', { tools: [{}], messages: [asks] });
  const own = modelOf('test', ['messages']);
  expect(await new ReasoningStore(createTestHost(), 24).attachReasoning(exchangeOf(), request, own)).toBe(request);
});
