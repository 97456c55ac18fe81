import type { Queries } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import type { Logger } from '#core/platform/logger.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { BackgroundWork } from '../health/background-work.ts';

const secretName = 'session';
/** How long startup waits for the secret. Without it, sessions that the client does not name are spread over the routes. */
const startTimeoutMs = 2_000;

/** Reads the secret for digests of sessions, which all instances with the same database share. */
export class SessionSecret implements Disposable {
  value: string | undefined;
  readonly #firstRead: Promise<void>;
  readonly #retries: BackgroundWork;

  /** @param parts `database` is read late, because a dry start has none */
  constructor(parts: { readonly log: Logger; readonly database: Queries }) {
    const read = async () => {
      this.value ??= await readSecret(parts.database, secretName);
    };
    this.#retries = new BackgroundWork(parts.log, 'reading the session secret', read);
    this.#firstRead = read().catch(() => this.#retries.request());
  }

  async waitUntilRead(): Promise<void> {
    if (this.value === undefined)
      await withDeadline(this.#firstRead, startTimeoutMs, 'the database is slow').catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#retries[Symbol.dispose]();
  }
}
