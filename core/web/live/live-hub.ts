import { guardListener } from '#core/platform/background.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { type LiveTopic, type Page, type LiveParts, liveTopics } from '../pages/page.ts';
import { PageError } from '../pages/page-error.ts';
import { type LiveChange, liveBus } from './live-bus.ts';
import type { LiveStream } from './live-stream.ts';
import { type LiveSource, LiveView } from './live-view.ts';
import { type RenderBudget, RenderQueue, CpuShareBudget } from './render-queue.ts';
import type { Database } from '#core/platform/database/database.ts';

const beatIntervalMs = 15_000;
const sessionIntervalMs = 3_000;
const sessionTimeoutMs = 5_000;

/** The reader of a stream, and its content. */
export interface LiveReader {
  readonly page: Pick<Page, 'path' | 'role'>;
  readonly live: LiveParts;
  /** Streams with the same key show the same HTML. */
  readonly viewKey: string;
  /** Undefined for visitors. */
  readonly accountId: string | undefined;
  readonly sessionId: string | undefined;
  /** IP address. */
  readonly address: string;
  readonly source: LiveSource;
}

/** Selects the sessions that are still open and have this role. */
export type FilterSessions = (ids: readonly string[]) => Promise<ReadonlyMap<string, { readonly isOperator: boolean }>>;

type HubHost = Pick<Host, 'keep' | 'log' | 'instance' | 'shared' | 'database'>;

interface Followed {
  readonly view: LiveView;
  readonly topics: ReadonlySet<LiveTopic>;
  readonly accountId: string | undefined;
  unfollow(): void;
}

/**
 * The live streams of this process. Streams with the same content share a view; a change marks the views of its topic, and the queue
 * renders them. A stream ends with its session or the process, or when its account has too many streams.
 */
export class LiveHub implements AsyncDisposable {
  readonly #host: HubHost;
  readonly #filterSessions: FilterSessions;
  readonly #readers = new Map<LiveStream, LiveReader>();
  readonly #views = new Map<string, Followed>();
  readonly #owners = new Map<string, Set<LiveStream>>(); // by account or IP address, oldest first
  readonly #queue: RenderQueue;
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #stops: readonly (() => void)[];
  #isChecking = false;
  #isStopped = false; // sessions could not be read at the last check
  #isClosed = false;

  constructor(host: HubHost, filterSessions: FilterSessions, pace: RenderBudget = new CpuShareBudget()) {
    this.#host = host;
    this.#queue = new RenderQueue(pace, host.log);
    this.#filterSessions = filterSessions;
    const mark = guardListener(host.log, 'marking open pages', (change: LiveChange) => this.#mark(change));
    this.#stops = [liveBus(host).listen(mark), followDatabase(host.database, mark)];
    this.#timers = [
      setInterval(
        guardListener(host.log, 'a beat of open pages', () => this.#beat()),
        beatIntervalMs,
      ),
      setInterval(
        guardListener(host.log, 'the check of open pages’ sessions', () => this.#checkSessions()),
        sessionIntervalMs,
      ),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  get size(): number {
    return this.#readers.size;
  }

  /** Number of rendered views: at most one per stream. */
  get views(): number {
    return this.#views.size;
  }

  /** @throws PageError 503 when the process has too many streams, or is stopping */
  add(stream: LiveStream, reader: LiveReader): void {
    if (this.#isClosed || this.#readers.size >= bounds.liveStreams) throw new PageError(503, 'error.503.text');
    this.#readers.set(stream, reader);
    stream.onClose = () => this.#remove(stream);
    this.#addToOwner(stream, reader);
    this.#viewFor(reader).add(stream, reader.source);
  }

  /** Ends all streams and rejects new ones: pages reconnect to another instance, or to the next process. */
  close(): void {
    this.#isClosed = true;
    for (const stream of this.#readers.keys()) stream.finish();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop();
    for (const timer of this.#timers) clearInterval(timer);
    this.#queue.close();
    this.close();
  }

  #remove(stream: LiveStream): void {
    const reader = this.#readers.get(stream);
    if (reader === undefined) return;
    this.#readers.delete(stream);
    const owner = ownerOf(reader);
    const streams = this.#owners.get(owner);
    streams?.delete(stream);
    if (streams?.size === 0) this.#owners.delete(owner);
    const followed = this.#views.get(reader.viewKey);
    followed?.view.remove(stream);
    if (followed?.view.isEmpty !== true) return;
    this.#views.delete(reader.viewKey);
    followed.unfollow();
  }

  #addToOwner(stream: LiveStream, reader: LiveReader): void {
    const owner = ownerOf(reader);
    const streams = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, streams.add(stream));
    const limit = reader.accountId === undefined ? bounds.addressStreams : bounds.accountStreams;
    const [oldest] = streams;
    if (streams.size > limit) oldest?.end('too_many');
  }

  #viewFor({ viewKey, page, live, accountId }: LiveReader): LiveView {
    const known = this.#views.get(viewKey);
    if (known !== undefined) return known.view;
    const view = new LiveView({
      path: page.path,
      live,
      log: this.#host.log,
      enqueue: (render, isRoutine) => this.#queue.add(render, isRoutine),
      dequeue: (render) => this.#queue.remove(render),
    });
    const followedAccount = page.role === 'account' ? accountId : undefined;
    // Changes in the health of routes and models are sent to all instances, so pages without an account need no subscription.
    const topics = new Set(live.topics);
    const isOfAccounts = topics.size > 1 || !topics.has('health');
    const unfollow = isOfAccounts ? liveBus(this.#host).follow(followedAccount) : () => {};
    this.#views.set(viewKey, { view, topics, accountId: followedAccount, unfollow });
    return view;
  }

  #mark({ topic, accounts }: LiveChange): void {
    for (const { view, topics, accountId } of this.#views.values()) {
      const concerns = accounts === undefined || accountId === undefined || accounts.has(accountId);
      if (concerns && topics.has(topic)) view.mark();
    }
  }

  #beat(): void {
    for (const stream of this.#readers.keys()) stream.beat();
  }

  /** While sessions cannot be read, streams stay open but report that updates have stopped. */
  async #checkSessions(): Promise<void> {
    const ids = new Set([...this.#readers.values()].flatMap(({ sessionId }) => sessionId ?? []));
    if (ids.size === 0 || this.#isChecking) return;
    this.#isChecking = true;
    const check = withDeadline(this.#filterSessions([...ids]), sessionTimeoutMs, 'sessions cannot be checked');
    const open = await check.catch(() => undefined);
    this.#isChecking = false;
    if (open === undefined) return this.#stop(ids);
    if (this.#isStopped) this.#resume();
    // Skips sessions that were opened after the check began.
    for (const [stream, { sessionId, page }] of this.#readers) {
      if (sessionId === undefined || !ids.has(sessionId)) continue;
      const session = open.get(sessionId);
      if (session !== undefined && (page.role !== 'operator' || session.isOperator)) continue;
      // Visitors may see the page too, so the stream reconnects without the session.
      if (page.role === 'public') stream.finish();
      else stream.end('signed_out');
    }
  }

  /** Reports that updates stopped: while the database is down pages do not change, so readers would not notice. */
  #stop(ids: ReadonlySet<string>): void {
    this.#isStopped = true;
    for (const [stream, { sessionId }] of this.#readers)
      if (sessionId !== undefined && ids.has(sessionId)) stream.stop();
  }

  #resume(): void {
    this.#isStopped = false;
    for (const { view } of this.#views.values()) view.mark();
  }
}

function ownerOf({ accountId, address }: LiveReader): string {
  return accountId === undefined ? `address ${address}` : `account ${accountId}`;
}

/** PostgreSQL channels whose triggers send an account id at commit, with the topics that they affect. */
const channels: Readonly<Record<string, readonly LiveTopic[]>> = {
  // Changes to keys, periods and blocks.
  account: ['account'],
  account_order: ['orders'],
};

/**
 * Listens to PostgreSQL notifications of changes from any process.
 *
 * @returns function that stops listening
 */
function followDatabase(
  { notifications }: Pick<Database, 'notifications'>,
  onChange: (change: LiveChange) => void,
): () => void {
  const stops = Object.entries(channels).map(([channel, topics]) => {
    // Notifications may have been lost, so everything may have changed.
    return notifications.listen(
      channel,
      (id) => topics.forEach((topic) => onChange({ topic, accounts: new Set([id]) })),
      () => liveTopics.forEach((topic) => onChange({ topic, accounts: undefined })),
    );
  });
  for (const stop of stops) stop.catch(() => undefined);
  return () => {
    for (const stop of stops) stop.then((end) => end()).catch(() => undefined);
  };
}
