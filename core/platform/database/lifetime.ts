import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { waitForFirst } from '../timing/deadline.ts';
import { DatabaseClaim, isClaimed } from './claim.ts';
import type { EmbeddedPostgres } from './embedded.ts';
import { ServerRestarter } from './server-restarter.ts';

interface LifetimeOptions {
  readonly dataFolder: string;
  readonly mode: 'serve' | 'command';
  readonly isShared: boolean;
}

/**
 * Ties a database to this process. A gateway claims its database, and restarts an embedded server that dies. On shutdown, the embedded
 * server is stopped, unless another gateway uses it.
 */
export class Lifetime {
  readonly #url: string;
  readonly #log: Logger;
  readonly #options: LifetimeOptions;
  readonly #embedded: EmbeddedPostgres | undefined;
  #startPromise: Promise<void> | undefined;
  #hasEnded = false;
  #claim: DatabaseClaim | undefined;
  #restarter: ServerRestarter | undefined;

  constructor(url: string, log: Logger, options: LifetimeOptions, embedded: EmbeddedPostgres | undefined) {
    this.#url = url;
    this.#log = log;
    this.#options = options;
    this.#embedded = embedded;
  }

  get isEmbedded(): boolean {
    return this.#embedded !== undefined;
  }

  /** @throws Error if an embedded server has exited or lost its files; it responds for up to a minute after losing them */
  async requireAlive(): Promise<void> {
    if (this.#embedded !== undefined && !(await this.#embedded.isAlive()))
      throw new Error('the embedded PostgreSQL is not running, or its files were removed');
  }

  /** @throws StartRefused if another gateway uses the database and it cannot be shared */
  start(): Promise<void> {
    this.#startPromise = this.#start();
    return this.#startPromise;
  }

  /** @param stopTimeoutMs how long to wait for `start` to settle, and for the embedded server to stop before it is forced to */
  async end(stopTimeoutMs = Infinity): Promise<void> {
    // A claim that is still being acquired would be mistaken for another gateway's.
    if (this.#startPromise !== undefined)
      await waitForFirst([this.#startPromise.catch(() => undefined)], stopTimeoutMs);
    this.#hasEnded = true;
    const hadClaim = this.#claim !== undefined;
    await this.#restarter?.[Symbol.asyncDispose]();
    await this.#claim?.[Symbol.asyncDispose]();
    if (this.#embedded !== undefined && (await this.#canStop(this.#embedded, hadClaim)))
      await this.#embedded.stop(stopTimeoutMs === Infinity ? undefined : stopTimeoutMs);
  }

  async #start(): Promise<void> {
    const { mode, isShared } = this.#options;
    if (mode !== 'serve') return;
    if (!isShared || this.isEmbedded) {
      const claim = await DatabaseClaim.acquire(this.#url, isShared ? 'shared' : 'exclusive', this.#log);
      if (claim === undefined) throw new StartRefused(this.#explainRefusal());
      // `end` timed out before this.
      if (this.#hasEnded) return claim[Symbol.asyncDispose]();
      this.#claim = claim;
    }
    if (this.#embedded !== undefined) this.#restarter = new ServerRestarter(this.#embedded, this.#log);
  }

  async #canStop({ isStartedHere, url }: EmbeddedPostgres, hadClaim: boolean): Promise<boolean> {
    if (hadClaim && !this.#options.isShared) return true;
    return (isStartedHere || hadClaim) && !(await isClaimed(url).catch(() => true));
  }

  #explainRefusal(): string {
    const { dataFolder, isShared } = this.#options;
    if (isShared)
      return `A gateway without Redis is running on ${dataFolder}. Set REDIS_URL for it as well, or stop it.`;
    if (this.isEmbedded) return `Another gateway is running on ${dataFolder}. Stop it, or set another data.folder.`;
    return 'Another gateway uses this database. Several gateways need Redis to share their limits: set REDIS_URL for all of them.';
  }
}
