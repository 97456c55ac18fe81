import type { Host } from '#core/gateway/host/host.ts';
import { type KeyClosure, keyClosures, type ReportedClosure } from '#core/gateway/model-call/key-closures.ts';
import { inBackground } from '#core/platform/background.ts';
import { closedKeyChannel, readClosures, removeClosure, retryAfter, storeClosure } from './closed-keys.ts';

type KeeperHost = Pick<Host, 'database' | 'log' | 'keep' | 'monotonic'>;

/** Keeps closed keys in the database, from which every instance knows them. No request waits for it. */
export class ClosedKeyKeeper implements AsyncDisposable {
  readonly #host: KeeperHost;
  /** The reading that has begun last, and one that waits for its end. */
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Keys of which this instance is writing that they were closed or opened. */
  readonly #writing = new Set<string>();
  /** Those of the running reading: what this instance has seen by itself is newer than the record. */
  #newer = new Set<string>();
  #unlisten: (() => void) | undefined;

  constructor(host: KeeperHost) {
    this.#host = host;
  }

  async start(): Promise<void> {
    const { database, log } = this.#host;
    const reread = () => inBackground(log, 'reading closed keys', () => this.read());
    keyClosures(this.#host).keeper = this;
    this.#unlisten = await database.notifications.listen(closedKeyChannel, reread, reread);
    await this.read();
  }

  closed(closure: KeyClosure, report: ReportedClosure): number {
    const { log } = this.#host;
    this.#write('recording a closed key', closure, async () => {
      const { upstream, closing, words, request } = report;
      if (!(await storeClosure(this.#host, closure.id, report))) return;
      const what = closing.part === 'account' ? 'the account of a key' : 'a key';
      log.error(
        `${closing.vendor} has closed ${what} of upstream ${upstream} (${request}): ${words}; see /operator/closed-keys`,
      );
    });
    return retryAfter;
  }

  opened(closure: KeyClosure): void {
    const { log } = this.#host;
    this.#write('recording an opened key', closure, async () => {
      if (await removeClosure(this.#host, closure.id)) log.info('a key that its vendor had closed is accepted again');
    });
  }

  #write(what: string, { id }: KeyClosure, write: () => Promise<void>): void {
    this.#writing.add(id);
    this.#newer.add(id);
    inBackground(this.#host.log, what, () => write().finally(() => this.#writing.delete(id)));
  }

  /** Adopts what is on record. Readings follow each other: the answer to an earlier one must not come after that to a later one. */
  read(): Promise<void> {
    if (this.#reading === undefined) {
      this.#reading = this.#adopt().finally(() => (this.#reading = undefined));
      return this.#reading;
    }
    // One that begins later serves all that ask until then.
    this.#next ??= this.#reading
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.read();
      });
    return this.#next;
  }

  async #adopt(): Promise<void> {
    const closures = keyClosures(this.#host);
    this.#newer = new Set(this.#writing);
    const stored = await readClosures(this.#host.database);
    const now = this.#host.monotonic();
    const digests = new Set(stored.map(({ digest }) => digest));
    for (const closure of closures.all())
      if (!digests.has(closure.id) && !this.#newer.has(closure.id)) closure.until = 0;
    for (const { digest, left } of stored) {
      if (this.#newer.has(digest)) continue;
      const closure = closures.named(digest);
      // Here, too, answers to requests from before are on their way: they must not open it for all.
      if (closure.until === 0 && left > 0) closure.since = now;
      // One that may be tried stays known, so that its acceptance is noted.
      closure.until = Math.max(1, now + Math.min(left, retryAfter));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#unlisten?.();
    return Promise.resolve();
  }
}

/** Starts it once in a process that serves. */
export async function keepClosedKeys(host: Host): Promise<void> {
  await host.keep('closed-keys/keeper', () => new ClosedKeyKeeper(host)).start();
}
