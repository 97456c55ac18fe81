import type { Host } from '#core/gateway/host/host.ts';
import { guardListener } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Database } from '#core/platform/database/database.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { PageError } from '../pages/page-error.ts';
import { type LiveTopic, type Page, type LiveParts, liveTopics } from '../pages/page.ts';
import { type LiveChange, getLiveBus } from './live-bus.ts';
import type { LiveStream } from './live-stream.ts';
import { type LiveSource, LiveView } from './live-view.ts';
import { type RenderBudget, RenderQueue, CpuShareBudget } from './render-queue.ts';

const heartbeatIntervalMs = 15_000;
const sessionIntervalMs = 3_000;
const sessionTimeoutMs = 5_000;

export interface LiveReader {
  readonly page: Pick<Page, 'path' | 'role'>;
  readonly live: LiveParts;
  readonly viewKey: string; // streams with the same key show the same HTML
  readonly accountId: string | undefined; // undefined for visitors
  readonly sessionId: string | undefined;
  readonly address: string;
  readonly source: LiveSource;
}

/** Returns the sessions that are still open, by id. */
export type ReadOpenSessions = (
  ids: readonly string[],
) => Promise<ReadonlyMap<string, { readonly isOperator: boolean }>>;

type HubHost = Pick<Host, 'keep' | 'log' | 'instance' | 'shared' | 'database'>;

interface ViewEntry {
  readonly view: LiveView;
  readonly topics: ReadonlySet<LiveTopic>;
  readonly accountId: string | undefined;
  unfollow(): void;
}

/**
 * The live streams of this process. Streams with the same content share a view. A change to a topic invalidates its views, and the queue
 * renders them again. A stream ends with its session or with the process, or if its account has too many streams.
 */
export class LiveHub implements AsyncDisposable {
  readonly #host: HubHost;
  readonly #readOpenSessions: ReadOpenSessions;
  readonly #readers = new Map<LiveStream, LiveReader>();
  readonly #views = new Map<string, ViewEntry>();
  readonly #owners = new Map<string, Set<LiveStream>>(); // by account or IP address, oldest first
  readonly #queue: RenderQueue;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #unsubscribers: readonly (() => void)[];
  #isChecking = false;
  #areUpdatesStopped = false; // the last check could not read the sessions
  #isClosed = false;

  constructor(host: HubHost, readOpenSessions: ReadOpenSessions, budget: RenderBudget = new CpuShareBudget()) {
    this.#host = host;
    this.#queue = new RenderQueue(budget, host.log);
    this.#readOpenSessions = readOpenSessions;
    const onChange = guardListener(host.log, 'marking open pages', (change: LiveChange) =>
      this.#invalidateViews(change),
    );
    this.#unsubscribers = [getLiveBus(host).listen(onChange), listenToDatabase(host.database, onChange)];
    this.#timers = [
      setInterval(
        guardListener(host.log, 'the heartbeat of open pages', () => this.#sendHeartbeats()),
        heartbeatIntervalMs,
      ),
      setInterval(
        guardListener(host.log, 'checking the sessions of open pages', () => this.#checkSessions()),
        sessionIntervalMs,
      ),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  get size(): number {
    return this.#readers.size;
  }

  get views(): number {
    return this.#views.size;
  }

  /** @throws PageError 503 if the process has too many streams or is stopping */
  add(stream: LiveStream, reader: LiveReader): void {
    if (this.#isClosed || this.#readers.size >= bounds.liveStreams) throw new PageError(503, 'error.503.text');
    this.#readers.set(stream, reader);
    stream.onClose = () => this.#remove(stream);
    this.#addToOwner(stream, reader);
    this.#findOrCreateView(reader).add(stream, reader.source);
  }

  /** Ends all streams and rejects new ones. Pages then reconnect to another instance, or to the next process. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#readers.keys()) stream.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#unsubscribers) stop();
    for (const timer of this.#timers) clearInterval(timer);
    this.#queue.close();
    this.close();
  }

  #remove(stream: LiveStream): void {
    const reader = this.#readers.get(stream);
    if (reader === undefined) return;
    this.#readers.delete(stream);
    const owner = ownerKey(reader);
    const streams = this.#owners.get(owner);
    streams?.delete(stream);
    if (streams?.size === 0) this.#owners.delete(owner);
    const entry = this.#views.get(reader.viewKey);
    entry?.view.remove(stream);
    if (entry?.view.isEmpty !== true) return;
    this.#views.delete(reader.viewKey);
    entry.unfollow();
  }

  #addToOwner(stream: LiveStream, reader: LiveReader): void {
    const owner = ownerKey(reader);
    const streams = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, streams.add(stream));
    const limit = reader.accountId === undefined ? bounds.addressStreams : bounds.accountStreams;
    const [oldest] = streams;
    if (streams.size > limit) oldest?.end('too_many');
  }

  #findOrCreateView({ viewKey, page, live, accountId }: LiveReader): LiveView {
    const existing = this.#views.get(viewKey);
    if (existing !== undefined) return existing.view;
    const view = new LiveView({
      path: page.path,
      live,
      log: this.#host.log,
      enqueue: (render, isRoutine) => this.#queue.add(render, isRoutine),
      dequeue: (render) => this.#queue.remove(render),
    });
    const followedAccount = page.role === 'account' ? accountId : undefined;
    // Changes in health go to all instances, so pages that show only health need no subscription.
    const topics = new Set(live.topics);
    const hasAccountTopics = topics.size > 1 || !topics.has('health');
    const unfollow = hasAccountTopics ? getLiveBus(this.#host).follow(followedAccount) : () => {};
    this.#views.set(viewKey, { view, topics, accountId: followedAccount, unfollow });
    return view;
  }

  #invalidateViews({ topic, accounts }: LiveChange): void {
    for (const { view, topics, accountId } of this.#views.values()) {
      const isAffected = accounts === undefined || accountId === undefined || accounts.has(accountId);
      if (isAffected && topics.has(topic)) view.invalidate();
    }
  }

  #sendHeartbeats(): void {
    for (const stream of this.#readers.keys()) stream.sendHeartbeat();
  }

  /** If sessions cannot be read, streams stay open and report that updates have stopped. */
  async #checkSessions(): Promise<void> {
    const ids = new Set([...this.#readers.values()].flatMap(({ sessionId }) => sessionId ?? []));
    if (ids.size === 0 || this.#isChecking) return;
    this.#isChecking = true;
    const check = withDeadline(this.#readOpenSessions([...ids]), sessionTimeoutMs, 'sessions cannot be checked');
    const openSessions = await check.catch(() => undefined);
    this.#isChecking = false;
    if (openSessions === undefined) return this.#reportStopped(ids);
    if (this.#areUpdatesStopped) this.#resumeUpdates();
    // Skips sessions that were opened after this check started.
    for (const [stream, { sessionId, page }] of this.#readers) {
      if (sessionId === undefined || !ids.has(sessionId)) continue;
      const session = openSessions.get(sessionId);
      if (session !== undefined && (page.role !== 'operator' || session.isOperator)) continue;
      // Visitors may see this page too, so the stream reconnects without a session.
      if (page.role === 'public') stream.finish();
      else stream.end('signed_out');
    }
  }

  /** Readers would not notice otherwise, because pages do not change while the database is down. */
  #reportStopped(ids: ReadonlySet<string>): void {
    this.#areUpdatesStopped = true;
    for (const [stream, { sessionId }] of this.#readers)
      if (sessionId !== undefined && ids.has(sessionId)) stream.reportStopped();
  }

  #resumeUpdates(): void {
    this.#areUpdatesStopped = false;
    for (const { view } of this.#views.values()) view.invalidate();
  }
}

function ownerKey({ accountId, address }: LiveReader): string {
  return accountId === undefined ? `address ${address}` : `account ${accountId}`;
}

/** By PostgreSQL channel, to which triggers send an account id at commit. */
const topicsByChannel: Readonly<Record<string, readonly LiveTopic[]>> = {
  // Sent for keys, periods and blocks.
  account: ['account'],
  account_order: ['orders'],
};

function listenToDatabase(
  { notifications }: Pick<Database, 'notifications'>,
  onChange: (change: LiveChange) => void,
): () => void {
  const subscriptions = Object.entries(topicsByChannel).map(([channel, topics]) => {
    // Notifications may have been lost, so anything may have changed.
    return notifications.listen(
      channel,
      (id) => topics.forEach((topic) => onChange({ topic, accounts: new Set([id]) })),
      () => liveTopics.forEach((topic) => onChange({ topic, accounts: undefined })),
    );
  });
  for (const stop of subscriptions) stop.catch(() => undefined);
  return () => {
    for (const stop of subscriptions) stop.then((end) => end()).catch(() => undefined);
  };
}
