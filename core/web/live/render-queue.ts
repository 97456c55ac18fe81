import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';

const concurrency = 2; // low, because requests need the database connections

const rateLimits = { max: 25, min: 4 }; // across all views; the minimum is enough for four busy pages and uses 1/60 of a core
const maxUrgentInRow = 4;
const renderCostMs = 4; // CPU time, including queries; measured with `npm run bench -- --dashboards`
const cpuShare = 0.03;
const sampleIntervalMs = 2_000;

export interface RenderBudget {
  readonly spacingMs: number; // between the starts of two renderings
  countRendering(): void;
}

/** Keeps the CPU time spent on pages at a few percent of that spent on requests. */
export class CpuShareBudget implements RenderBudget {
  #cpuUsage = process.cpuUsage();
  #sampledAt = performance.now();
  #renderings = 0;
  #spacingMs = 1_000 / rateLimits.max;

  get spacingMs(): number {
    const now = performance.now();
    if (now - this.#sampledAt < sampleIntervalMs) return this.#spacingMs;
    const { user, system } = process.cpuUsage(this.#cpuUsage);
    const requestCpuMs = (user + system) / 1_000 - this.#renderings * renderCostMs;
    this.#spacingMs = 1_000 / computeRate((requestCpuMs / (now - this.#sampledAt)) * 1_000);
    this.#cpuUsage = process.cpuUsage();
    this.#sampledAt = now;
    this.#renderings = 0;
    return this.#spacingMs;
  }

  countRendering(): void {
    this.#renderings++;
  }
}

/** Returns the renderings allowed per second. `load` is the CPU time spent on requests, in ms per second. */
export function computeRate(load: number): number {
  return Math.min(rateLimits.max, Math.max(rateLimits.min, (load * cpuShare) / renderCostMs));
}

/** Runs renderings in order, within the budget. Urgent ones go first, but every fifth may be a routine one. */
export class RenderQueue {
  readonly #budget: RenderBudget;
  readonly #log: Logger;
  readonly #urgent = new Set<() => Promise<void>>();
  readonly #routine = new Set<() => Promise<void>>();
  #urgentInRow = 0;
  #running = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(budget: RenderBudget, log: Logger) {
    this.#budget = budget;
    this.#log = log;
  }

  /** Queues work. Work that is already queued is not added again. */
  add(work: () => Promise<void>, isRoutine = false): void {
    if (isRoutine && !this.#urgent.has(work)) {
      this.#routine.add(work);
    } else {
      this.#routine.delete(work);
      this.#urgent.add(work);
    }
    this.#startNext();
  }

  remove(work: () => Promise<void>): void {
    this.#urgent.delete(work);
    this.#routine.delete(work);
  }

  close(): void {
    this.#urgent.clear();
    this.#routine.clear();
    clearTimeout(this.#timer);
  }

  #startNext(): void {
    const [work] = this.#isRoutineNext() ? this.#routine : this.#urgent;
    if (work === undefined || this.#running >= concurrency || this.#timer !== undefined) return;
    const pause = this.#startedAt + this.#budget.spacingMs - performance.now();
    if (pause > 0) return this.#startLater(pause);
    this.#urgentInRow = this.#urgent.delete(work) ? this.#urgentInRow + 1 : 0;
    this.#routine.delete(work);
    this.#running++;
    this.#startedAt = performance.now();
    this.#budget.countRendering();
    runInBackground(this.#log, 'an update of open pages', async () => {
      await work().finally(() => {
        this.#running--;
        this.#startNext();
      });
    });
    this.#startNext();
  }

  #isRoutineNext(): boolean {
    return this.#routine.size > 0 && (this.#urgent.size === 0 || this.#urgentInRow >= maxUrgentInRow);
  }

  #startLater(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startNext();
    }, milliseconds).unref();
  }
}
