import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { StoredEvents } from './run-rows.ts';

const collectMs = 200; // how long events are collected before they are stored
const pauseThreshold = 65_536; // if more characters than this are buffered, reading the answer pauses until they are stored
const failThreshold = 1_048_576; // if more characters than this are buffered, the answer fails because they cannot be stored

/** Stores a stream's events in order and in batches. Reading pauses when the buffer is full, so the buffer stays small. */
export class EventLog {
  readonly #store: (events: StoredEvents) => Promise<void>;
  readonly #log: Logger;
  #buffer = '';
  #lastSequence = -1;
  #timer: NodeJS.Timeout | undefined;
  #lastStoring: Promise<void> = Promise.resolve();
  totalCharacters = 0;

  constructor(store: (events: StoredEvents) => Promise<void>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  add(event: string, sequence: number): void {
    this.#buffer += event;
    this.#lastSequence = sequence;
    this.totalCharacters += event.length;
    this.#timer ??= setTimeout(() => runInBackground(this.#log, 'storing events', () => this.flush()), collectMs);
  }

  /**
   * Waits until there is room for more events. If the database fails, up to `failThreshold` characters are buffered.
   *
   * @throws the error that storing them caused
   */
  async waitForRoom(): Promise<void> {
    if (this.#buffer.length <= pauseThreshold) return;
    await this.flush().catch((error: unknown) => {
      if (this.#buffer.length > failThreshold) throw error;
    });
  }

  /** @throws the error that storing them caused */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const previousStoring = this.#lastStoring;
    const storing = previousStoring.then(() => this.#storeBuffer());
    this.#lastStoring = storing.catch(() => undefined);
    await storing;
  }

  async #storeBuffer(): Promise<void> {
    if (this.#buffer === '') return;
    const batch = { events: this.#buffer, last_sequence: this.#lastSequence };
    this.#buffer = '';
    try {
      await this.#store(batch);
    } catch (error) {
      // These events are stored with the next batch.
      this.#buffer = batch.events + this.#buffer;
      throw error;
    }
  }
}
