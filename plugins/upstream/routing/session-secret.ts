import type { Database } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Logger } from '#core/platform/logger.ts';
import { BackgroundWork } from '../health/background-work.ts';

const secretName = 'session';
/** How long startup waits for the secret. Without it, unnamed sessions are only spread over the routes. */
const startTimeoutMs = 2_000;

/** Secret for digests of sessions, shared by all instances of a database. */
export class SessionSecret implements Disposable {
  value: string | undefined;
  readonly #read: Promise<void>;
  readonly #retries: BackgroundWork;

  /** @param parts its `database` is read late, because a dry start has none */
  constructor(parts: { readonly log: Logger; readonly database: Pick<Database, 'query'> }) {
    const read = async () => {
      this.value ??= await readSecret(parts.database, secretName);
    };
    this.#retries = new BackgroundWork(parts.log, 'reading the secret of sessions', read);
    this.#read = read().catch(() => this.#retries.request());
  }

  /** Waits up to `startTimeoutMs` until the secret is known. */
  async ready(): Promise<void> {
    if (this.value === undefined)
      await withDeadline(this.#read, startTimeoutMs, 'the database is slow').catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#retries[Symbol.dispose]();
  }
}
