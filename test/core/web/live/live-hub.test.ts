import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bounds } from '#core/platform/bounds.ts';
import { publishLive } from '#core/web/live/live-bus.ts';
import { LiveHub } from '#core/web/live/live-hub.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { Redirect } from '#core/web/pages/page.ts';
import { hubHost, openHub, openTab } from './fixture.ts';

let hub: LiveHub;
let { host, channels } = hubHost();

beforeEach(() => {
  vi.useFakeTimers();
  ({ host, channels } = hubHost());
  hub = openHub(host);
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  vi.useRealTimers();
});

/** Values that count how often they were read. */
function counting() {
  let count = 0;
  return { values: () => ({ 'text.eta': `state ${++count}`, 'other.eta': 'same' }), reads: () => count };
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
const open = 'retry: 1234\nevent: live-open\ndata: build';

describe('a stream that opens', () => {
  it('gets the build, then every part, the last one with the id of all', async () => {
    const tab = openTab(hub, counting());
    await pass(0);
    expect(tab.events).toEqual([
      open,
      'event: text\ndata: <p>state 1</p>',
      expect.stringMatching(/^id: [\w-]{8}\.[\w-]{8}\nevent: other\ndata: <p>same<\/p>$/),
    ]);
  });

  it('gets only what has changed since its last event id', async () => {
    const first = openTab(hub, counting());
    await pass(0);
    const id = /id: (.*)/.exec(first.events.at(-1) ?? '')?.[1] ?? '';
    first.stream.close();
    const page = { values: () => ({ 'text.eta': 'other state', 'other.eta': 'same' }), lastEventId: id };
    const again = openTab(hub, page);
    await pass(0);
    expect(again.events).toHaveLength(2);
    expect(again.events[1]).toContain('<p>other state</p>');
  });

  it.each(['', 'nonsense', 'a.b.c', '.'])('gets every part after the last event id "%s"', async (lastEventId) => {
    const tab = openTab(hub, { ...counting(), lastEventId });
    await pass(0);
    expect(tab.events).toHaveLength(3);
  });
});

describe('a change', () => {
  it('is rendered once for all tabs of a session', async () => {
    const page = counting();
    const tabs = Array.from({ length: 5 }, () => openTab(hub, page));
    await pass(2_000);
    const before = page.reads();
    publishLive(host, 'requests', ['account-1']);
    await pass(1_000);
    expect(page.reads()).toBe(before + 1);
    expect(tabs.map(({ events }) => events.at(-1))).toEqual(
      tabs.map(() => expect.stringContaining(`state ${before + 1}`)),
    );
    expect(hub.views).toBe(1);
  });

  it('is rendered at most once a second, however many there are', async () => {
    const page = counting();
    openTab(hub, page);
    await pass(0);
    for (let count = 0; count < 500; count++) {
      publishLive(host, 'requests', ['account-1']);
      await pass(10);
    }
    expect(page.reads()).toBeGreaterThanOrEqual(5);
    expect(page.reads()).toBeLessThanOrEqual(6);
  });

  it('sends only the parts that are different', async () => {
    const tab = openTab(hub, counting());
    await pass(0);
    publishLive(host, 'requests', ['account-1']);
    await pass(1_000);
    expect(tab.events.slice(3)).toEqual([expect.stringContaining('event: text\ndata: <p>state 2</p>')]);
  });

  it('of another account or topic renders nothing', async () => {
    const page = counting();
    openTab(hub, page);
    await pass(0);
    publishLive(host, 'requests', ['account-2']);
    publishLive(host, 'requests', []);
    publishLive(host, 'health');
    publishLive(host, 'orders', ['account-1']);
    await pass(3_000);
    expect(page.reads()).toBe(1);
  });

  it.each(['operator', 'public'] as const)('of any account renders a page of the role %s', async (role) => {
    const page = counting();
    openTab(hub, { ...page, role });
    await pass(0);
    publishLive(host, 'requests', ['account-2']);
    await pass(1_000);
    expect(page.reads()).toBe(2);
  });

  it('that the database notifies of renders the pages of its account, a gap all of them', async () => {
    const [own, other] = [counting(), counting()];
    openTab(hub, own);
    openTab(hub, { ...other, accountId: 'account-2', sessionId: 'session-2' });
    await pass(0);
    channels.get('account')?.notify('account-1');
    await pass(1_000);
    expect([own.reads(), other.reads()]).toEqual([2, 1]);
    channels.get('account')?.gap();
    await pass(1_000);
    expect([own.reads(), other.reads()]).toEqual([3, 2]);
  });

  it('is found at an interval when the page asks for one', async () => {
    const page = counting();
    openTab(hub, { ...page, everySeconds: 5 });
    await pass(15_100);
    expect(page.reads()).toBe(4);
  });
});

describe('a reader that does not read', () => {
  it('costs no rendering, and gets the newest state when it reads again', async () => {
    const page = counting();
    const tab = openTab(hub, page);
    await pass(0);
    tab.pause();
    // One more is written before the socket is full.
    for (let count = 0; count < 3; count++) {
      publishLive(host, 'requests', ['account-1']);
      await pass(1_000);
    }
    const reads = page.reads();
    publishLive(host, 'requests', ['account-1']);
    await pass(5_000);
    expect(page.reads()).toBe(reads);
    tab.resume();
    await pass(1_000);
    expect(tab.events.at(-1)).toContain(`state ${reads + 1}`);
  });

  it('does not hold up another tab of its view, and catches up', async () => {
    const page = counting();
    const [slow, quick] = [openTab(hub, page), openTab(hub, page)];
    await pass(2_000);
    slow.pause();
    for (let count = 0; count < 3; count++) {
      publishLive(host, 'requests', ['account-1']);
      await pass(1_000);
    }
    expect(quick.events.at(-1)).toContain(`state ${page.reads()}`);
    await pass(3_000);
    const reads = page.reads();
    slow.resume();
    await pass(1_000);
    expect(page.reads()).toBe(reads + 1);
    expect(slow.events.at(-1)).toContain(`state ${page.reads()}`);
  });

  it('is dropped after two heartbeats', async () => {
    const tab = openTab(hub, counting());
    await pass(0);
    tab.pause();
    publishLive(host, 'requests', ['account-1']);
    await pass(1_000);
    publishLive(host, 'requests', ['account-1']);
    await pass(60_000);
    expect(tab.isClosed()).toBe(true);
    expect(hub.size).toBe(0);
  });
});

describe('a page that cannot be rendered', () => {
  it('is logged once, keeps its last content, and is logged when it can be rendered again', async () => {
    let failure: Error | undefined;
    const tab = openTab(hub, {
      values: () => {
        if (failure !== undefined) throw failure;
        return { 'text.eta': 'fine' };
      },
    });
    await pass(0);
    failure = new Error('no database');
    publishLive(host, 'requests', ['account-1']);
    await pass(20_000);
    failure = undefined;
    await pass(11_000);
    expect(tab.events.slice(3)).toEqual([
      'event: live-state\ndata: stopped',
      expect.stringMatching(/^id: .*\nevent: live-state\ndata: live$/),
    ]);
  });

  it('ends when there is nothing left to show', async () => {
    const tab = openTab(hub, { values: () => Promise.reject(new PageError(404, 'error.404.text')) });
    await pass(0);
    expect(tab.events.at(-1)).toBe('event: live-end\ndata: gone');
    expect(hub.size).toBe(0);
  });

  it('leads to the page that is shown instead', async () => {
    const tab = openTab(hub, { values: () => new Redirect('/orders/7/receipt') });
    await pass(0);
    expect(tab.events.at(-1)).toBe('event: live-redirect\ndata: /orders/7/receipt');
  });
});

describe('a session that ends', () => {
  const openSessions = new Map([['session-1', { isOperator: false }]]);
  const filter = async (ids: readonly string[]) =>
    new Map(ids.flatMap((id) => (openSessions.has(id) ? [[id, { isOperator: false }] as const] : [])));

  it('ends its streams within seconds, and no others', async () => {
    await using own = openHub(host, filter);
    const ended = openTab(own, { ...counting(), sessionId: 'session-2' });
    const stays = openTab(own, counting());
    await pass(4_000);
    expect(ended.events.at(-1)).toBe('event: live-end\ndata: signed_out');
    expect(stays.isClosed()).toBe(false);
    expect(own.size).toBe(1);
  });

  it('ends the stream of an operator who no longer is one', async () => {
    await using own = openHub(host, filter);
    const tab = openTab(own, { ...counting(), role: 'operator' });
    await pass(4_000);
    expect(tab.events.at(-1)).toBe('event: live-end\ndata: signed_out');
  });

  it('lets a public page reconnect', async () => {
    await using own = openHub(host, filter);
    const tab = openTab(own, { ...counting(), role: 'public', sessionId: 'session-2' });
    await pass(4_000);
    expect(tab.events.at(-1)).not.toContain('live-end');
    expect(tab.isClosed()).toBe(true);
  });

  it('has its streams say stopped while sessions cannot be read, and live afterwards', async () => {
    let isAway = false;
    await using own = openHub(host, (ids) => (isAway ? Promise.reject(new Error('no database')) : filter(ids)));
    const page = counting();
    const tab = openTab(own, { values: () => ({ 'text.eta': 'same', 'other.eta': 'same' }) });
    const visitor = openTab(own, { ...page, path: '/public', role: 'public', accountId: undefined });
    await pass(4_000);
    isAway = true;
    await pass(10_000);
    expect(tab.events.filter((event) => event.includes('live-state'))).toEqual(['event: live-state\ndata: stopped']);
    isAway = false;
    await pass(5_000);
    expect(tab.events.at(-1)).toContain('event: live-state\ndata: live');
    expect(visitor.events.join()).not.toContain('live-state');
  });

  it('is waited for no longer than its streams may show old news', async () => {
    await using own = openHub(host, () => new Promise(() => undefined));
    const tab = openTab(own, counting());
    await pass(10_000);
    expect(tab.events.at(-1)).toBe('event: live-state\ndata: stopped');
  });

  it('is unknown while sessions cannot be read, so that streams stay', async () => {
    await using own = openHub(host, () => Promise.reject(new Error('no database')));
    const tab = openTab(own, counting());
    await pass(10_000);
    expect(tab.isClosed()).toBe(false);
  });
});

describe('bounds', () => {
  it('ends the oldest stream of an account with too many', async () => {
    const tabs = Array.from({ length: 500 }, () => openTab(hub, counting()));
    await pass(0);
    expect(hub.size).toBe(bounds.accountStreams);
    expect(tabs[0]?.isClosed()).toBe(true);
    expect(tabs.at(-1)?.isClosed()).toBe(false);
  });

  it('renders the page of another account at once after one has opened too many', async () => {
    await using own = new LiveHub(host, async (ids) => new Map(ids.map((id) => [id, { isOperator: false }])), {
      spacingMs: 100,
      countRendering: () => undefined,
    });
    for (let count = 0; count < 500; count++) {
      openTab(own, { ...counting(), path: `/page?${count}` });
      await pass(1);
    }
    const other = openTab(own, { ...counting(), accountId: 'account-2', sessionId: 'session-2' });
    await pass(100 * (bounds.accountStreams + 5));
    expect(other.events).toHaveLength(3);
  });

  it('end the oldest stream of an account with a reason for its tab', async () => {
    const oldest = openTab(hub, counting());
    await pass(0);
    for (let count = 0; count < bounds.accountStreams; count++) openTab(hub, counting());
    await pass(0);
    expect(oldest.events.at(-1)).toBe('event: live-end\ndata: too_many');
  });

  it('counts visitors by address', async () => {
    for (let count = 0; count < 200; count++) {
      const address = count % 2 === 0 ? '192.0.2.1' : '192.0.2.2';
      openTab(hub, { ...counting(), role: 'public', accountId: undefined, address });
    }
    expect(hub.size).toBe(2 * bounds.addressStreams);
    expect(hub.views).toBe(1);
  });

  it('refuses streams over the limit of the process', () => {
    for (let count = 0; count < bounds.liveStreams; count++)
      openTab(hub, { ...counting(), accountId: `account-${count}`, path: '/same' });
    expect(() => openTab(hub, counting())).toThrow(PageError);
  });
});

it('leaves nothing behind when every tab is closed', async () => {
  const tabs = Array.from({ length: 3 }, () => openTab(hub, { ...counting(), everySeconds: 1 }));
  await pass(0);
  for (const { stream } of tabs) stream.close();
  await pass(0);
  expect([hub.size, hub.views]).toEqual([0, 0]);
});

it('ends streams and refuses new ones when the gateway stops', async () => {
  const tab = openTab(hub, counting());
  await pass(0);
  hub.close();
  await pass(0);
  expect(tab.isClosed()).toBe(true);
  expect(() => openTab(hub, counting())).toThrow(PageError);
});

it('an idle stream gets a comment every 15 seconds', async () => {
  const tab = openTab(hub, counting());
  let comments = 0;
  tab.stream.body.on('data', (chunk: Buffer) => {
    if (chunk.toString() === ':\n\n') comments++;
  });
  await pass(45_000);
  expect(comments).toBe(3);
});
