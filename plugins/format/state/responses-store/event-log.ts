import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { StoredEvents } from './run-rows.ts';

const collectTime = 200; // ms for which events are collected before they are stored
const roomy = 65_536; // characters of collected events above which reading the answer pauses until they are stored
const full = 1_048_576; // characters above which an answer whose events cannot be stored is ended

/** Stores the events of a stream, several at a time and in order. Holds few of them: while they are stored, no more are read. */
export class EventLog {
  readonly #store: (events: StoredEvents) => Promise<void>;
  readonly #log: Logger;
  #events = '';
  #last = -1;
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> = Promise.resolve();
  total = 0;

  constructor(store: (events: StoredEvents) => Promise<void>, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  get last(): number {
    return this.#last;
  }

  add(event: string, sequence: number): void {
    this.#events += event;
    this.#last = sequence;
    this.total += event.length;
    this.#timer ??= setTimeout(() => inBackground(this.#log, 'storing events', () => this.flush()), collectTime);
  }

  /** Resolves when there is room for more; a database that fails for a while uses it up. @throws what storing throws */
  async room(): Promise<void> {
    if (this.#events.length <= roomy) return;
    await this.flush().catch((error: unknown) => {
      if (this.#events.length > full) throw error;
    });
  }

  /** Stores all events. @throws what storing throws */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const before = this.#storing;
    const storing = before.then(() => this.#write());
    this.#storing = storing.catch(() => undefined);
    await storing;
  }

  async #write(): Promise<void> {
    if (this.#events === '') return;
    const events = { events: this.#events, last_sequence: this.#last };
    this.#events = '';
    try {
      await this.#store(events);
    } catch (error) {
      // The next ones are stored with them.
      this.#events = events.events + this.#events;
      throw error;
    }
  }
}
