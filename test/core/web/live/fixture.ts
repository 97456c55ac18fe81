import { Keeper } from '#core/extension/keeper.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { LiveHub, type ReadOpenSessions, type LiveReader } from '#core/web/live/live-hub.ts';
import { LiveStream } from '#core/web/live/live-stream.ts';
import { silentLog } from '../../../support/database.ts';

/** What a hub needs of its host, with a database that notifies when the test says so. */
export function hubHost(settings: Partial<Host> = {}) {
  const keeper = new Keeper();
  const channels = new Map<string, { notify: (id: string) => void; gap: () => void }>();
  const notifications = {
    isConnected: true,
    listen: async (channel: string, notify: (id: string) => void, gap: () => void) => {
      channels.set(channel, { notify, gap });
      return () => channels.delete(channel);
    },
  };
  const host = {
    instance: 'one',
    log: silentLog,
    shared: new MemoryShared(),
    database: { notifications },
    keep: (key: string, create: () => object) => keeper.keep(key, create),
    ...settings,
  } as unknown as Host;
  return { host, channels };
}

/** A hub in which every session is open. */
export function openHub(host: Host, filterSessions: ReadOpenSessions = allOpen): LiveHub {
  return new LiveHub(host, filterSessions, { spacingMs: 0, countRendering: () => undefined });
}

const allOpen: ReadOpenSessions = async (ids) => new Map(ids.map((id) => [id, { isOperator: false }]));

/** One tab: its stream, and the events that it has read. */
export interface Tab {
  readonly stream: LiveStream;
  readonly events: string[];
  readonly isClosed: () => boolean;
  /** Reads no more. */
  pause(): void;
  resume(): void;
}

/** A page whose part `text` prints what `values` returns. */
export interface TestPage {
  path?: string;
  role?: 'public' | 'account' | 'operator';
  accountId?: string | undefined;
  sessionId?: string | undefined;
  address?: string;
  lastEventId?: string;
  everySeconds?: number;
  values: () => object | Promise<object>;
}

/** Opens a stream of the page and reads it. */
export function openTab(hub: LiveHub, page: TestPage): Tab {
  const { path = '/page', role = 'account', accountId = 'account-1', sessionId = 'session-1' } = page;
  const isVisitor = 'accountId' in page && page.accountId === undefined;
  const live = {
    topics: ['requests', 'account'] as const,
    parts: { text: 'text.eta', other: 'other.eta' },
    values: page.values,
    ...(page.everySeconds !== undefined && { everySeconds: page.everySeconds }),
  };
  const stream = new LiveStream(Object.keys(live.parts), page.lastEventId ?? '');
  const reader: LiveReader = {
    page: { path, role },
    live,
    viewKey: `${path} ${isVisitor ? 'visitor' : sessionId}`,
    accountId: isVisitor ? undefined : accountId,
    sessionId: isVisitor ? undefined : sessionId,
    address: page.address ?? '192.0.2.1',
    source: {
      values: async () => page.values(),
      render: (templates, values) =>
        new Map(
          Object.entries(templates).map(([name, template]) => [
            name,
            `<p>${String((values as Record<string, unknown>)[template] ?? '')}</p>`,
          ]),
        ),
    },
  };
  stream.open('build', 1234);
  hub.add(stream, reader);
  return read(stream);
}

function read(stream: LiveStream): Tab {
  const events: string[] = [];
  let isClosed = false;
  stream.body.on('data', (chunk: Buffer) => {
    for (const event of chunk.toString().split('\n\n')) if (event !== '' && event !== ':') events.push(event);
  });
  stream.body.on('close', () => {
    isClosed = true;
  });
  return {
    stream,
    events,
    isClosed: () => isClosed,
    pause: () => stream.body.pause(),
    resume: () => stream.body.resume(),
  };
}
