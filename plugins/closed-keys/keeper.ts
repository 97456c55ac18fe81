import type { Host } from '#core/gateway/host/host.ts';
import { type KeyClosure, getKeyClosures, type ReportedClosure } from '#core/gateway/model-call/key-closures.ts';
import { runInBackground } from '#core/platform/background.ts';
import { closedKeyChannel, readClosures, removeClosure, retryDelayMs, storeClosure } from './closed-keys.ts';

type KeeperHost = Pick<Host, 'database' | 'log' | 'keep' | 'monotonic'>;

/** Shares closed keys between instances through the database. Requests never wait for it. */
export class ClosedKeyKeeper implements AsyncDisposable {
  readonly #host: KeeperHost;
  #reading: Promise<void> | undefined; // in progress
  #nextReading: Promise<void> | undefined; // starts after the one in progress, if any caller is waiting
  readonly #keysBeingWritten = new Set<string>();
  /** Keys that changed on this instance since the current reading began, which may have read their old state. */
  #changedKeys = new Set<string>();
  #unlisten: (() => void) | undefined;

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  async start(): Promise<void> {
    const { database, log } = this.#host;
    const reread = () => runInBackground(log, 'reading closed keys', () => this.read());
    getKeyClosures(this.#host).store = this;
    // Also reread after a gap in the connection, because notifications may have been lost.
    this.#unlisten = await database.notifications.listen(closedKeyChannel, reread, reread);
    await this.read();
  }

  storeClosed(closure: KeyClosure, report: ReportedClosure): number {
    const { log } = this.#host;
    this.#write('recording a closed key', closure, async () => {
      const { upstream, rule, message, request } = report;
      if (!(await storeClosure(this.#host, closure.id, report))) return;
      const closedPart = rule.part === 'account' ? 'the account of a key' : 'a key';
      log.error(
        `${rule.vendor} has closed ${closedPart} of upstream ${upstream} (${request}): ${message}; see /operator/closed-keys`,
      );
    });
    return retryDelayMs;
  }

  storeOpened(closure: KeyClosure): void {
    const { log } = this.#host;
    this.#write('recording an opened key', closure, async () => {
      if (await removeClosure(this.#host, closure.id)) log.info('a key that its vendor had closed is accepted again');
    });
  }

  #write(taskName: string, { id }: KeyClosure, write: () => Promise<void>): void {
    this.#keysBeingWritten.add(id);
    this.#changedKeys.add(id);
    runInBackground(this.#host.log, taskName, () => write().finally(() => this.#keysBeingWritten.delete(id)));
  }

  /** Readings never overlap, so an old result cannot overwrite a newer one. */
  read(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#adoptStored().finally(() => (this.#reading = undefined));
      return this.#reading;
    }
    // Serves all callers that arrive before it starts.
    this.#nextReading ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#nextReading = undefined;
        return this.read();
      });
    return this.#nextReading;
  }

  async #adoptStored(): Promise<void> {
    const closures = getKeyClosures(this.#host);
    this.#changedKeys = new Set(this.#keysBeingWritten);
    const storedClosures = await readClosures(this.#host.database);
    const now = this.#host.monotonic();
    const digests = new Set(storedClosures.map(({ digest }) => digest));
    for (const closure of closures.all())
      if (!digests.has(closure.id) && !this.#changedKeys.has(closure.id)) closure.until = 0;
    for (const { digest, left } of storedClosures) {
      if (this.#changedKeys.has(digest)) continue;
      const closure = closures.getById(digest);
      // A late response to a request sent before the closure must not reopen the key on all instances.
      if (closure.until === 0 && left > 0) closure.since = now;
      // At least 1, because 0 means open: a key that may be tried is not open until its acceptance has been recorded.
      closure.until = Math.max(1, now + Math.min(left, retryDelayMs));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten?.();
    return Promise.resolve();
  }
}

export async function startKeeper(host: Host): Promise<void> {
  await host.keep('closed-keys/keeper', () => new ClosedKeyKeeper(host)).start();
}
