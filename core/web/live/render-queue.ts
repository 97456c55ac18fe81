import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';

const concurrency = 2; // few, because requests need the database connections

/** Renderings per second, over all views. The minimum, enough for four busy pages, takes a sixtieth of a core. */
const rates = { most: 25, least: 4 };
const urgentInRow = 4;
/** CPU time in ms of one rendering with its queries, as `npm run bench -- --dashboards` measures it. */
const renderCostMs = 4;
const cpuShare = 0.03;
const sampleIntervalMs = 2_000;

/** Limits the rate of renderings. */
export interface RenderBudget {
  /** Minimum time in ms between the starts of two renderings. */
  readonly spacing: number;
  /** Counts a rendering. */
  begin(): void;
}

/** Keeps the CPU time of pages at a few percent of the CPU time of requests. */
export class CpuShareBudget implements RenderBudget {
  #cpu = process.cpuUsage();
  #sampledAt = performance.now();
  #renderings = 0;
  #spacing = 1_000 / rates.most;

  get spacing(): number {
    const now = performance.now();
    if (now - this.#sampledAt < sampleIntervalMs) return this.#spacing;
    const { user, system } = process.cpuUsage(this.#cpu);
    const others = (user + system) / 1_000 - this.#renderings * renderCostMs;
    this.#spacing = 1_000 / rateFor((others / (now - this.#sampledAt)) * 1_000);
    this.#cpu = process.cpuUsage();
    this.#sampledAt = now;
    this.#renderings = 0;
    return this.#spacing;
  }

  begin(): void {
    this.#renderings++;
  }
}

/** @param load CPU time in ms per second without renderings @returns renderings per second */
export function rateFor(load: number): number {
  return Math.min(rates.most, Math.max(rates.least, (load * cpuShare) / renderCostMs));
}

/** Runs renderings in the order of their requests, within the budget; urgent ones mostly come before routine ones. */
export class RenderQueue {
  readonly #pace: RenderBudget;
  readonly #log: Logger;
  readonly #urgent = new Set<() => Promise<void>>();
  readonly #routine = new Set<() => Promise<void>>();
  #urgentInRow = 0;
  #running = 0;
  #begunAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(pace: RenderBudget, log: Logger) {
    this.#pace = pace;
    this.#log = log;
  }

  /** @param work queued once, even if it is added several times */
  add(work: () => Promise<void>, isRoutine = false): void {
    if (isRoutine && !this.#urgent.has(work)) this.#routine.add(work);
    else {
      this.#routine.delete(work);
      this.#urgent.add(work);
    }
    this.#next();
  }

  /** Removes work whose result is no longer needed. */
  remove(work: () => Promise<void>): void {
    this.#urgent.delete(work);
    this.#routine.delete(work);
  }

  close(): void {
    this.#urgent.clear();
    this.#routine.clear();
    clearTimeout(this.#timer);
  }

  #next(): void {
    const [work] = this.#isRoutineNext() ? this.#routine : this.#urgent;
    if (work === undefined || this.#running >= concurrency || this.#timer !== undefined) return;
    const pause = this.#begunAt + this.#pace.spacing - performance.now();
    if (pause > 0) return this.#wait(pause);
    this.#urgentInRow = this.#urgent.delete(work) ? this.#urgentInRow + 1 : 0;
    this.#routine.delete(work);
    this.#running++;
    this.#begunAt = performance.now();
    this.#pace.begin();
    runInBackground(this.#log, 'an update of open pages', async () => {
      await work().finally(() => {
        this.#running--;
        this.#next();
      });
    });
    this.#next();
  }

  #isRoutineNext(): boolean {
    return this.#routine.size > 0 && (this.#urgent.size === 0 || this.#urgentInRow >= urgentInRow);
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#next();
    }, milliseconds).unref();
  }
}
