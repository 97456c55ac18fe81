import { getNextMillis, type JobsOptions } from 'bullmq';
import type { Logger } from '../logger.ts';
import type { Job } from './job.ts';
import type { ScheduleState } from './jobs.ts';
import type { BullQueue, BullScheduler } from './queue-factory.ts';

const maxMissedPeriods = 2;

interface SchedulesOptions {
  readonly definitions: Iterable<Job<never>>;
  readonly createOptions: (definition: Job<never>) => JobsOptions;
  readonly log: Logger;
}

interface PlannedRun {
  readonly time: number; // epoch ms
  readonly firstSeenAt: number; // ms, monotonic
}

/**
 * Synchronizes the schedules in the queue with the definitions. BullMQ plans runs by the wall clock of the process that ran the last one.
 * After that clock is set back, the next run is too far in the future. A monotonic clock is therefore used to check that each planned run
 * is replaced by a later one when it should be.
 */
export class Schedules implements ScheduleState {
  readonly lateSince = new Map<string, number>();
  rescheduleCount = 0;
  readonly #options: SchedulesOptions;
  readonly #jobs: readonly ScheduledJob[];
  readonly #plannedRuns = new Map<string, PlannedRun>();

  constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#jobs = [...options.definitions].filter(isScheduled);
  }

  /** The queue has no other schedules, because it belongs to these definitions. */
  async apply(queue: BullQueue): Promise<void> {
    const schedulers = await readSchedulers(queue);
    for (const job of this.#jobs) {
      const scheduler = schedulers.get(job.name);
      await this.#writeScheduler(queue, job, scheduler, isTooFarAhead(job, scheduler));
    }
  }

  /** Restores lost schedules, and reschedules jobs that have missed their periods. */
  async restore(queue: BullQueue, signal: AbortSignal): Promise<void> {
    const schedulers = await readSchedulers(queue);
    if (signal.aborted) return;
    const lostJobs = this.#jobs.filter(({ name }) => !schedulers.has(name));
    if (lostJobs.length > 0) {
      this.#options.log.warn(`the job queue lost ${lostJobs.length} schedules; restoring them`);
      await this.apply(queue);
    }
    const lateJobs = this.#jobs.filter((job) => this.#detectLateRun(job, schedulers.get(job.name)));
    if (lateJobs.length > 0) await this.#reschedule(queue, lateJobs, schedulers);
  }

  /** Forgets the planned runs. Call it after a gap in the checks, because a run that stayed planned during the gap need not be stuck. */
  forgetRuns(): void {
    this.#plannedRuns.clear();
  }

  async #reschedule(queue: BullQueue, lateJobs: readonly ScheduledJob[], schedulers: Schedulers): Promise<void> {
    const names = lateJobs.map(({ name }) => name);
    this.#options.log.warn(
      `jobs have missed ${maxMissedPeriods} of their periods and are rescheduled: ${names.join(', ')}. If the clock of this machine was set back, no action is needed.`,
    );
    for (const job of lateJobs) await this.#writeScheduler(queue, job, schedulers.get(job.name), true);
    this.rescheduleCount += lateJobs.length;
    const newSchedulers = await readSchedulers(queue);
    // The new runs are only planned. The next check shows whether they are replaced.
    for (const name of names) {
      this.#recordRun(name, newSchedulers.get(name));
      this.lateSince.set(name, this.lateSince.get(name) ?? Date.now());
    }
  }

  /** Records the planned run. Returns true if the same run is still planned although it should have been replaced. */
  #detectLateRun(job: ScheduledJob, scheduler: BullScheduler | undefined): boolean {
    const plannedRun = this.#plannedRuns.get(job.name);
    const isSame = plannedRun !== undefined && plannedRun.time === scheduler?.next;
    const isTooFar = isTooFarAhead(job, scheduler);
    if (isSame && (isTooFar || performance.now() - plannedRun.firstSeenAt > maxMissedPeriods * computePeriod(job)))
      return true;
    // A run in the near future is fine too, because a job that ran when it was rescheduled may not run again for hours.
    const isAhead = !isTooFar && (scheduler?.next ?? 0) > Date.now();
    if (isAhead || (plannedRun !== undefined && !isSame)) this.lateSince.delete(job.name);
    if (!isSame) this.#recordRun(job.name, scheduler);
    return false;
  }

  #recordRun(name: string, scheduler: BullScheduler | undefined): void {
    if (scheduler?.next === undefined) this.#plannedRuns.delete(name);
    else this.#plannedRuns.set(name, { time: scheduler.next, firstSeenAt: performance.now() });
  }

  async #writeScheduler(
    queue: BullQueue,
    job: ScheduledJob,
    existing: BullScheduler | undefined,
    shouldRecreate: boolean,
  ): Promise<void> {
    const { name, schedule } = job;
    // An interval that is already in the queue would otherwise keep the time of its next run.
    if (shouldRecreate && existing !== undefined) await queue.removeJobScheduler(existing.key);
    const key = shouldRecreate ? createNextKey(name, existing) : (existing?.key ?? name);
    const repeat = 'every' in schedule ? { every: schedule.every * 1000 } : { pattern: schedule.pattern, tz: 'UTC' };
    // After the clock was set back, a stored completed run would block a new run at the same time.
    const opts = { ...this.#options.createOptions(job), removeOnComplete: true };
    await queue.upsertJobScheduler(key, repeat, { name, data: {}, opts });
  }
}

type ScheduledJob = Job<never> & { readonly schedule: NonNullable<Job<never>['schedule']> };

function isScheduled(definition: Job<never>): definition is ScheduledJob {
  return definition.schedule !== undefined;
}

type Schedulers = ReadonlyMap<string, BullScheduler>;

async function readSchedulers(queue: BullQueue): Promise<Schedulers> {
  return new Map(
    (await queue.getJobSchedulers()).map((scheduler) => [scheduler.key.replace(generationSuffix, ''), scheduler]),
  );
}

const generationSuffix = /~(\d+)$/; // suffix of a scheduler's key after it was recreated

/**
 * Creates the key of a recreated scheduler, whose runs need new ids. Failed runs are stored for operators. After the clock was set back,
 * they would block new runs at the same times, and BullMQ refuses to remove them.
 */
function createNextKey(name: string, existing: BullScheduler | undefined): string {
  return `${name}~${Number(generationSuffix.exec(existing?.key ?? '')?.[1] ?? 0) + 1}`;
}

function isTooFarAhead(job: ScheduledJob, scheduler: BullScheduler | undefined): boolean {
  return (scheduler?.next ?? 0) - Date.now() > maxMissedPeriods * computePeriod(job); // as after the clock was set back
}

function computePeriod({ schedule }: ScheduledJob): number {
  if ('every' in schedule) return schedule.every * 1000;
  const [first, second] = findNextTimes(schedule.pattern);
  return second - first;
}

/** Finds the next two times (epoch ms) of a cron pattern. Throws for an invalid one. */
export function findNextTimes(pattern: string): [first: number, second: number] {
  const findNext = (time: number) => getNextMillis(time, { pattern, tz: 'UTC' }) ?? time;
  const first = findNext(Date.now());
  return [first, findNext(first)];
}
