import { getNextMillis, type JobsOptions } from 'bullmq';
import type { Logger } from '../logger.ts';
import type { Job } from './job.ts';
import type { ScheduleState } from './jobs.ts';
import type { KitQueue, KitScheduler } from './queue-kit.ts';

const toleratedMisses = 2;

interface SchedulesOptions {
  readonly definitions: Iterable<Job<never>>;
  readonly optionsOf: (definition: Job<never>) => JobsOptions;
  readonly log: Logger;
}

interface SeenRun {
  readonly next: number; // epoch ms
  readonly since: number; // ms, monotonic
}

/**
 * Keeps the schedules in the queue in line with the definitions. BullMQ plans runs by the wall clock of the process that ran the last one:
 * after that clock was set back, the next run is too far in the future. Therefore the check is whether planned runs are replaced by later
 * ones in time, by a monotonic clock.
 */
export class Schedules implements ScheduleState {
  readonly late = new Map<string, number>();
  rescheduled = 0;
  readonly #options: SchedulesOptions;
  readonly #scheduled: readonly ScheduledJob[];
  readonly #seen = new Map<string, SeenRun>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#scheduled = [...options.definitions].filter(isScheduled);
  }

  /** Writes the schedules to the queue. There are no others, because the queue belongs to these definitions. */
  async apply(queue: KitQueue): Promise<void> {
    const known = await readSchedulers(queue);
    for (const job of this.#scheduled) {
      const scheduler = known.get(job.name);
      await this.#set(queue, job, scheduler, isFarAway(job, scheduler));
    }
  }

  /** Restores lost schedules, and reschedules jobs that missed their periods. */
  async restore(queue: KitQueue, signal: AbortSignal): Promise<void> {
    const known = await readSchedulers(queue);
    if (signal.aborted) return;
    const lost = this.#scheduled.filter(({ name }) => !known.has(name));
    if (lost.length > 0) {
      this.#options.log.warn(`the job queue lost ${lost.length} schedules; restoring them`);
      await this.apply(queue);
    }
    const late = this.#scheduled.filter((job) => this.#checkRun(job, known.get(job.name)));
    if (late.length > 0) await this.#reschedule(queue, late, known);
  }

  /** Call after a gap in the checks: a run that stayed planned meanwhile does not prove that its schedule is stuck. */
  forget(): void {
    this.#seen.clear();
  }

  async #reschedule(queue: KitQueue, late: readonly ScheduledJob[], before: Schedulers): Promise<void> {
    const names = late.map(({ name }) => name);
    this.#options.log.warn(
      `jobs have missed ${toleratedMisses} of their periods and are scheduled anew: ${names.join(', ')}. If the clock of this machine was set back, no action is needed.`,
    );
    for (const job of late) await this.#set(queue, job, before.get(job.name), true);
    this.rescheduled += late.length;
    const known = await readSchedulers(queue);
    // These are plans, not runs: the next check shows whether they are replaced.
    for (const name of names) {
      this.#note(name, known.get(name));
      this.late.set(name, this.late.get(name) ?? Date.now());
    }
  }

  /**
   * Compares the planned run with the last check, and notes it.
   *
   * @returns true if the job is late: the run is still the same, but should have been replaced
   */
  #checkRun(job: ScheduledJob, scheduler: KitScheduler | undefined): boolean {
    const seen = this.#seen.get(job.name);
    const isSame = seen !== undefined && seen.next === scheduler?.next;
    const isFar = isFarAway(job, scheduler);
    if (isSame && (isFar || performance.now() - seen.since > toleratedMisses * periodOf(job))) return true;
    // A run in the near future is fine too: a job that ran when it was rescheduled may have hours until the next run.
    const isAhead = !isFar && (scheduler?.next ?? 0) > Date.now();
    if (isAhead || (seen !== undefined && !isSame)) this.late.delete(job.name);
    if (!isSame) this.#note(job.name, scheduler);
    return false;
  }

  #note(name: string, scheduler: KitScheduler | undefined): void {
    if (scheduler?.next === undefined) this.#seen.delete(name);
    else this.#seen.set(name, { next: scheduler.next, since: performance.now() });
  }

  async #set(queue: KitQueue, job: ScheduledJob, known: KitScheduler | undefined, isRecreated: boolean): Promise<void> {
    const { name, schedule } = job;
    // Otherwise an interval already in the queue keeps the time of its next run.
    if (isRecreated && known !== undefined) await queue.removeJobScheduler(known.key);
    const key = isRecreated ? nextKey(name, known) : (known?.key ?? name);
    const repeat = 'every' in schedule ? { every: schedule.every * 1000 } : { pattern: schedule.pattern, tz: 'UTC' };
    // A completed run would block another one at the same time, after the clock was set back.
    const opts = { ...this.#options.optionsOf(job), removeOnComplete: true };
    await queue.upsertJobScheduler(key, repeat, { name, data: {}, opts });
  }
}

type ScheduledJob = Job<never> & { readonly schedule: NonNullable<Job<never>['schedule']> };

function isScheduled(definition: Job<never>): definition is ScheduledJob {
  return definition.schedule !== undefined;
}

type Schedulers = ReadonlyMap<string, KitScheduler>;

async function readSchedulers(queue: KitQueue): Promise<Schedulers> {
  return new Map(
    (await queue.getJobSchedulers()).map((scheduler) => [scheduler.key.replace(generation, ''), scheduler]),
  );
}

const generation = /~(\d+)$/; // suffix of a scheduler's key after it was recreated

/**
 * Key of a recreated scheduler, whose runs need new ids. Failed runs are kept for operators; after the clock was set back, those at the
 * same times would block new ones, and BullMQ refuses to remove them.
 */
function nextKey(name: string, known: KitScheduler | undefined): string {
  return `${name}~${Number(generation.exec(known?.key ?? '')?.[1] ?? 0) + 1}`;
}

/** True if the next run is more than two periods away, as after the clock was set back. */
function isFarAway(job: ScheduledJob, scheduler: KitScheduler | undefined): boolean {
  return (scheduler?.next ?? 0) - Date.now() > toleratedMisses * periodOf(job);
}

function periodOf({ schedule }: ScheduledJob): number {
  if ('every' in schedule) return schedule.every * 1000;
  const [first, second] = timesOf(schedule.pattern);
  return second - first;
}

/**
 * Returns the next two times of a cron pattern, epoch ms.
 *
 * @throws Error for an invalid pattern
 */
export function timesOf(pattern: string): [first: number, second: number] {
  const after = (time: number) => getNextMillis(time, { pattern, tz: 'UTC' }) ?? time;
  const first = after(Date.now());
  return [first, after(first)];
}
