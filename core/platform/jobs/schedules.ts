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
 * Keeps the schedules in the queue as the definitions are. BullMQ plans runs by the wall clock of the process that ran the last one:
 * after a clock was set back, the next runs are as far away as it was set. So what counts is whether a planned run gives way to the
 * next one, by a clock that is never set.
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

  /** Puts the schedules into the queue, which has no others: it belongs to these definitions. */
  async apply(queue: KitQueue): Promise<void> {
    const known = await readSchedulers(queue);
    for (const job of this.#scheduled) {
      const scheduler = known.get(job.name);
      await this.#set(queue, job, scheduler, isFarAway(job, scheduler));
    }
  }

  /** Restores lost schedules, and those that have missed their periods. */
  async restore(queue: KitQueue, signal: AbortSignal): Promise<void> {
    const known = await readSchedulers(queue);
    if (signal.aborted) return;
    const lost = this.#scheduled.filter(({ name }) => !known.has(name));
    if (lost.length > 0) {
      this.#options.log.warn(`the job queue lost ${lost.length} schedules; restoring them`);
      await this.apply(queue);
    }
    const late = this.#scheduled.filter((job) => this.#isLate(job, known.get(job.name)));
    if (late.length > 0) await this.#scheduleAnew(queue, late, known);
  }

  /** There was no check for a while: an unchanged run in that time is no fault of its schedule. */
  forget(): void {
    this.#seen.clear();
  }

  async #scheduleAnew(queue: KitQueue, late: readonly ScheduledJob[], before: Schedulers): Promise<void> {
    const names = late.map(({ name }) => name);
    this.#options.log.warn(
      `jobs have missed ${toleratedMisses} of their periods and are scheduled anew: ${names.join(', ')}. If the clock of this machine was set back, nothing is to be done.`,
    );
    for (const job of late) await this.#set(queue, job, before.get(job.name), true);
    this.rescheduled += late.length;
    const known = await readSchedulers(queue);
    // Not runs: the next look shows whether they give way.
    for (const name of names) {
      this.#note(name, known.get(name));
      this.late.set(name, this.late.get(name) ?? Date.now());
    }
  }

  /** True if the planned run is the same as in the last check and should not be. */
  #isLate(job: ScheduledJob, scheduler: KitScheduler | undefined): boolean {
    const seen = this.#seen.get(job.name);
    const isSame = seen !== undefined && seen.next === scheduler?.next;
    const isFar = isFarAway(job, scheduler);
    if (isSame && (isFar || performance.now() - seen.since > toleratedMisses * periodOf(job))) return true;
    // A run that lies ahead is in order too: a job that has run when it was scheduled anew may have hours until the next one.
    const isAhead = !isFar && (scheduler?.next ?? 0) > Date.now();
    if (isAhead || (seen !== undefined && !isSame)) this.late.delete(job.name);
    if (!isSame) this.#note(job.name, scheduler);
    return false;
  }

  #note(name: string, scheduler: KitScheduler | undefined): void {
    if (scheduler?.next === undefined) this.#seen.delete(name);
    else this.#seen.set(name, { next: scheduler.next, since: performance.now() });
  }

  async #set(queue: KitQueue, job: ScheduledJob, known: KitScheduler | undefined, isAnew: boolean): Promise<void> {
    const { name, schedule } = job;
    // An interval that is in the queue keeps the time of its next run otherwise.
    if (isAnew && known !== undefined) await queue.removeJobScheduler(known.key);
    const key = isAnew ? nextKey(name, known) : (known?.key ?? name);
    const repeat = 'every' in schedule ? { every: schedule.every * 1000 } : { pattern: schedule.pattern, tz: 'UTC' };
    // A run that is over would be in the way of another one at the same time, after the clock was set back.
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

const generation = /~(\d+)$/; // suffix of a scheduler's key after it was created anew

/**
 * The key of a scheduler made anew: its runs have ids of their own. Failed runs are kept for operators, those of times to which the
 * clock was set back would be in the way of new ones, and BullMQ refuses to remove them.
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

/** @throws Error for a pattern that cannot be read */
export function timesOf(pattern: string): [first: number, second: number] {
  const after = (time: number) => getNextMillis(time, { pattern, tz: 'UTC' }) ?? time;
  const first = after(Date.now());
  return [first, after(first)];
}
