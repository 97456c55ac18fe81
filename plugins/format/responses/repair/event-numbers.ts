import type { JsonValue } from '#core/json.ts';

/** Numbers the events of a stream. The upstream's numbers stay until an event is left out, is added, or has none. */
export class EventNumbers {
  #last = -1;
  #isOurs = false;

  /** The number of the next event if it is the upstream's and follows the last; undefined once the numbers are ours. */
  get expected(): number | undefined {
    return this.#isOurs ? undefined : this.#last + 1;
  }

  /** The number of an event of the upstream. @param given its number there */
  pass(given: JsonValue | undefined): number {
    this.#isOurs ||= typeof given !== 'number' || !Number.isInteger(given) || given <= this.#last;
    return (this.#last = this.#isOurs ? this.#last + 1 : (given as number));
  }

  /** The number of an event that the upstream has not sent. */
  insert(): number {
    this.#isOurs = true;
    return ++this.#last;
  }

  /** Leaves an event of the upstream out. */
  skip(): void {
    this.#isOurs = true;
  }
}
