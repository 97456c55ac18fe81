import { type SlotLimits, type SlotReply, unusedResult } from '#core/platform/shared/slots.ts';
import { FairQueue } from '../../plugins/upstream/capacity/fair-queue.ts';
import type { Clock } from './clock.ts';

const cacheLifeMs = 300_000; // of an unused prompt. Source: Anthropic and OpenAI docs, "Prompt caching"
const meanAnswerMs = 12_000;
const meanThinkingMs = 20_000;
const maxWaitMs = 15_000; // the default of `queue.wait`

const limits: SlotLimits = {
  concurrent: 20,
  requests: Infinity,
  periodMs: 60_000,
  waitingByAccount: 50,
  waiting: 2_000,
};

/** Either the gateway's fair queue, or first come, first served. */
export interface Queue {
  enter(id: string, account: string, now: number): Pick<SlotReply, 'state' | 'expectedMs' | 'grantedIds'>;
  end(id: string, isServed: boolean, now: number): readonly string[];
}

export function fairQueue(): Queue {
  const queue = new FairQueue();
  return {
    enter: (id, account, now) => queue.enter({ id, account, weight: 1, mayWait: true }, limits, now),
    end: (id, isServed, now) =>
      queue.end(id, isServed ? { isServed, refusedShare: 0 } : unusedResult, limits, now).grantedIds,
  };
}

export function unfairQueue(): Queue {
  const running = new Set<string>();
  const waiting: string[] = [];
  return {
    enter(id) {
      if (running.size < limits.concurrent) {
        running.add(id);
        return { state: 'running', expectedMs: 0, grantedIds: [] };
      }
      waiting.push(id);
      return { state: 'waiting', expectedMs: (waiting.length * meanAnswerMs) / limits.concurrent, grantedIds: [] };
    },
    end(id) {
      if (!running.delete(id)) waiting.splice(waiting.indexOf(id), 1);
      const granted = waiting.splice(0, limits.concurrent - running.size);
      for (const one of granted) running.add(one);
      return granted;
    },
  };
}

/**
 * Accounts with one conversation each, and heavy ones with as many as a key may have requests in flight, on an upstream with too few slots.
 */
export class QueuedConversations {
  readonly #clock: Clock;
  readonly #queue: Queue;
  readonly #waiting = new Map<string, (isGranted: boolean) => void>();
  #ids = 0;
  turns = 0;
  hits = 0; // whose prompt the vendor still had in its cache

  constructor(clock: Clock, queue: Queue) {
    this.#clock = clock;
    this.#queue = queue;
  }

  async run(account: string, untilMs: number): Promise<void> {
    let usedAt = -Infinity;
    await this.#clock.wait(Math.random() * meanThinkingMs);
    while (this.#clock.now < untilMs) {
      await this.#turn(account);
      this.turns++;
      // A conversation's first turn cannot be a hit.
      if (usedAt > -Infinity && this.#startedAt - usedAt <= cacheLifeMs) this.hits++;
      usedAt = this.#clock.now;
      await this.#clock.wait(-Math.log(1 - Math.random()) * meanThinkingMs);
    }
  }

  #startedAt = 0;

  async #turn(account: string): Promise<void> {
    for (;;) {
      const id = `${this.#ids++}`;
      const { state, expectedMs: expected, grantedIds: granted } = this.#queue.enter(id, account, this.#clock.now);
      this.#wake(granted);
      const isGranted = state === 'running' || (state === 'waiting' && (await this.#wait(id)));
      if (isGranted) {
        const startedAt = this.#clock.now;
        await this.#clock.wait(-Math.log(1 - Math.random()) * meanAnswerMs);
        this.#wake(this.#queue.end(id, true, this.#clock.now));
        this.#startedAt = startedAt;
        return;
      }
      this.#wake(this.#queue.end(id, false, this.#clock.now));
      await this.#clock.wait(Math.max(1_000, Math.min(60_000, expected - maxWaitMs)));
    }
  }

  #wait(id: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#clock.after(maxWaitMs, () => {
        if (this.#waiting.delete(id)) resolve(false);
      });
    });
  }

  #wake(granted: readonly string[]): void {
    for (const id of granted) {
      this.#waiting.get(id)?.(true);
      this.#waiting.delete(id);
    }
  }
}
