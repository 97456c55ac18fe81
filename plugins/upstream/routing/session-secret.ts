import type { Database } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import type { Logger } from '#core/platform/logger.ts';
import { BackgroundWork } from '../health/background-work.ts';

const secretName = 'session';
/** How long the start waits for the secret: without it, sessions without a name are only spread. */
const startTimeoutMs = 2_000;

/** The secret by which sessions without a name are hashed, the same for all instances on the database. */
export class SessionSecret implements Disposable {
  value: string | undefined;
  readonly #read: Promise<void>;
  readonly #retries: BackgroundWork;

  /** @param database opened late: a dry start has none */
  constructor(parts: { readonly log: Logger; readonly database: Pick<Database, 'query'> }) {
    const read = async () => {
      this.value ??= await readSecret(parts.database, secretName);
    };
    this.#retries = new BackgroundWork(parts.log, 'reading the secret of sessions', read);
    this.#read = read().catch(() => this.#retries.request());
  }

  /** Waits for a while until it is known. */
  async ready(): Promise<void> {
    if (this.value === undefined)
      await withDeadline(this.#read, startTimeoutMs, 'the database is slow').catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#retries[Symbol.dispose]();
  }
}
