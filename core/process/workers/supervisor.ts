import { bindSockets, type BoundSocket } from '#core/gateway/http/accept.ts';
import { runInBackground } from '#core/platform/background.ts';
import { prepareDataFolder } from '#core/platform/data-folder.ts';
import { createListenRefusal } from '#core/platform/errors/start-refused.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import type { StopCause, StopOrder, StopSignals } from '../stop-signals.ts';
import { type Action, ControlSocket } from './control.ts';
import { WorkersOperator } from './operator.ts';
import type { WorkerPlan } from './plan.ts';
import type { WorkerCrash } from './settings.ts';
import { type WorkerExit, WorkerProcess } from './worker-process.ts';
import { describeSlots, type WorkerSlot, renderSlotMetrics } from './worker-slot.ts';

/**
 * Timeouts in ms. `start`: a start while other workers serve, which may have to migrate a large database. `drain`: how long a replaced
 * worker may take to end; covers the maximum of `listen.drain_timeout`, and closing. `end`: how long a worker may take to end after a third
 * signal.
 */
const timeoutsMs = { start: 600_000, drain: 3_700_000, end: 7_000 };

const retriesMs = { min: 200, max: 30_000 };

/** A worker that runs for this long resets the backoff of its crashes. */
const stableAfterMs = 60_000;

/** How often to check for hung workers, and after how many checks without a report a worker is killed. */
const hangCheck = { intervalMs: 10_000, maxMissed: 6 };

/** A worker moves clients to others if it has more requests in flight than this, relative to the workers' mean. */
const loadTolerance = { maxFactor: 1.25, maxExcess: 2 };

interface SupervisorParts {
  readonly signals: StopSignals;
  readonly log: Logger;
}

/**
 * Runs several processes that serve the same port, until a signal.
 *
 * @returns why it ended, and true if every worker ended cleanly
 * @throws StartRefused; if the first worker does not start, the process exits with that worker's exit code, because the worker has already
 *   reported the reason
 */
export async function supervise(plan: WorkerPlan, parts: SupervisorParts): Promise<[StopCause | Error, boolean]> {
  await prepareDataFolder(plan.dataFolder);
  const supervisor = new Supervisor(plan, parts);
  try {
    return await supervisor.run();
  } finally {
    await supervisor.close();
  }
}

class Supervisor {
  readonly #plan: WorkerPlan;
  readonly #parts: SupervisorParts;
  readonly #slots: readonly WorkerSlot[];
  readonly #running = new Set<WorkerProcess>(); // including those that are stopping
  readonly #control: ControlSocket;
  readonly #operator: WorkersOperator | undefined;
  readonly #ended = Promise.withResolvers<boolean>();
  #sockets: readonly BoundSocket[] = [];
  #replacing: Promise<void> | undefined;
  #crash: WorkerCrash | undefined;
  #crashedAt = -Infinity; // ms, monotonic
  #isStopping = false;
  #isClean = true;

  constructor(plan: WorkerPlan, parts: SupervisorParts) {
    this.#plan = plan;
    this.#parts = parts;
    this.#slots = Array.from({ length: plan.count }, (_, index) => ({
      number: index + 1,
      backoff: new Backoff(retriesMs),
      worker: undefined,
      timer: undefined,
      crashes: 0,
      isReplacing: false,
    }));
    const { log } = parts;
    this.#control = new ControlSocket(
      plan.dataFolder,
      (action, reportProgress) => this.#perform(action, reportProgress),
      log,
    );
    const workers = {
      ready: () => this.#ready,
      metrics: (answered: readonly number[]) => renderSlotMetrics(this.#slots, answered),
      describe: () => describeSlots(this.#slots),
    };
    this.#operator = plan.operator && new WorkersOperator(plan.operator, workers, log);
  }

  async run(): Promise<[StopCause | Error, boolean]> {
    const { signals, log } = this.#parts;
    await this.#control.listen();
    await this.#operator?.listen();
    this.#sockets = await this.#bind();
    const started = this.#start();
    const hangTimer = setInterval(() => this.#killHanging(), hangCheck.intervalMs);
    const cause = await Promise.race([signals.first, started.then(() => signals.first)]);
    if (cause instanceof Error) log.error('unhandled error in the supervisor; the workers are stopping', cause);
    else log.info(`${cause}: the workers finish requests in flight`);
    clearInterval(hangTimer);
    return [cause, await this.#stop()];
  }

  async close(): Promise<void> {
    await this.#operator?.close();
    await this.#control.close();
  }

  get #ready(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ worker }) => (worker?.isReady === true ? worker : []));
  }

  async #bind(): Promise<BoundSocket[]> {
    const { host, port } = this.#plan.place;
    try {
      return await bindSockets({ host, port });
    } catch (error) {
      throw createListenRefusal(`${host}:${port}`, 'listen.port', error);
    }
  }

  /** Starts one worker first, which migrates the database and validates the configuration. */
  async #start(): Promise<void> {
    const [first, ...others] = this.#slots as [WorkerSlot, ...WorkerSlot[]];
    const worker = this.#spawn(first);
    if (!(await this.#waitForStart(worker, true)) && !this.#isStopping) {
      const { code = 1, how } = await worker.exited;
      if (code === 0) this.#parts.log.error(`worker 1 ${how} while it started`);
      process.exit(code === 0 ? 1 : code);
    }
    await Promise.all(others.map((slot) => this.#isStopping || this.#waitForStart(this.#spawn(slot))));
    if (this.#isStopping) return;
    this.#announce();
    this.#ready[0]?.sendOrder({ kind: 'greet', operatorUrl: this.#operator?.url });
    this.#parts.signals.onReload(() => runInBackground(this.#parts.log, 'passing on a reload', () => this.#reload()));
  }

  #spawn(slot: WorkerSlot): WorkerProcess {
    const worker = this.#openWorker(slot.number);
    slot.worker = worker;
    return worker;
  }

  #openWorker(number: number): WorkerProcess {
    const settings = { number, count: this.#plan.count, isAlone: this.#ready.length === 0 };
    const worker = new WorkerProcess(settings, this.#sockets, (reporter) => this.#balance(reporter));
    this.#running.add(worker);
    runInBackground(this.#parts.log, 'following a worker', async () => this.#handleExit(worker, await worker.exited));
    return worker;
  }

  /**
   * Moves clients away from a busy worker. Connections stay with the worker that accepted them, so load becomes uneven after a restart or
   * if only a few workers were idle.
   */
  #balance(worker: WorkerProcess): void {
    const ready = this.#ready;
    if (!worker.isReady || ready.length < 2) return;
    const mean = ready.reduce((sum, { running }) => sum + running, 0) / ready.length;
    if (worker.running <= mean * loadTolerance.maxFactor + loadTolerance.maxExcess) return;
    worker.sendOrder({ kind: 'shed', connections: Math.round(worker.running - mean) });
  }

  /** Kills workers that have stopped sending reports. Health checks cannot detect them, because other workers respond. */
  #killHanging(): void {
    for (const worker of this.#ready) {
      if (++worker.missedReports < hangCheck.maxMissed) continue;
      this.#parts.log.error(
        `worker ${worker.number} has not responded for ${(hangCheck.maxMissed * hangCheck.intervalMs) / 1000} s; killing it`,
      );
      worker.kill();
    }
  }

  async #waitForStart(worker: WorkerProcess, isFirst = false): Promise<boolean> {
    // As in a single process, the first start has no timeout.
    const result = await waitForFirst([worker.startResult], isFirst ? Infinity : timeoutsMs.start);
    if (result !== notSettled) return result;
    this.#parts.log.error(`worker ${worker.number} is not serving after ${timeoutsMs.start / 1000} s; killing it`);
    worker.kill();
    return false;
  }

  #handleExit(worker: WorkerProcess, { code, how }: WorkerExit): void {
    this.#running.delete(worker);
    const slot = this.#slots[worker.number - 1] as WorkerSlot;
    if (this.#isStopping) {
      this.#isClean &&= code === 0;
      if (this.#running.size === 0) this.#ended.resolve(this.#isClean);
    } else if (slot.worker === worker) this.#handleCrash(slot, worker, how);
  }

  #handleCrash(slot: WorkerSlot, worker: WorkerProcess, how: string): void {
    const { number, backoff } = slot;
    const { log } = this.#parts;
    slot.worker = undefined;
    slot.crashes++;
    if (worker.uptimeMs > stableAfterMs) backoff.reset();
    const delayMs = backoff.next();
    const nextStep = slot.isReplacing
      ? 'its successor starts already'
      : `starting it again in ${Math.ceil(delayMs)} ms`;
    log.error(`worker ${number} (process ${worker.pid}) ${how}; ${nextStep}`);
    this.#crash = { worker: number, how, at: Date.now() };
    this.#crashedAt = performance.now();
    this.#announce();
    if (!slot.isReplacing) this.#startLater(slot, delayMs);
  }

  #startLater(slot: WorkerSlot, delayMs: number): void {
    const start = async () => {
      if (!(await this.#waitForStart(this.#spawn(slot)))) return;
      this.#parts.log.info(`worker ${slot.number} is serving again`);
      this.#announce();
    };
    slot.timer = setTimeout(() => runInBackground(this.#parts.log, 'starting a worker again', start), delayMs);
  }

  async #perform(action: Action, reportProgress: (line: string) => void): Promise<void> {
    if (this.#isStopping && action !== 'stop') throw new Error('the gateway is stopping');
    if (action === 'restart') await this.#replaceAll(reportProgress);
    else if (action === 'reload') await this.#reload();
    else {
      this.#parts.signals.followOrder('SIGTERM');
      if (!(await this.#ended.promise)) throw new Error('a worker has not ended cleanly; see the log');
    }
  }

  async #reload(): Promise<void> {
    const reloaded = await Promise.all(this.#ready.map((worker) => worker.reload()));
    if (!reloaded.every(Boolean)) throw new Error('gateway.yaml was not reloaded by every worker; the log says why');
  }

  /**
   * Replaces all workers, one at a time.
   *
   * @throws Error if a new process does not start; this slot and all later ones then keep their workers
   */
  async #replaceAll(reportProgress: (line: string) => void): Promise<void> {
    if (this.#replacing !== undefined) throw new Error('the workers are already being replaced');
    const replace = async () => {
      for (const slot of this.#slots) await this.#replace(slot, reportProgress);
    };
    this.#replacing = replace().finally(() => (this.#replacing = undefined));
    await this.#replacing;
  }

  async #replace(slot: WorkerSlot, reportProgress: (line: string) => void): Promise<void> {
    const { number } = slot;
    if (this.#isStopping) throw new Error('the gateway is stopping');
    clearTimeout(slot.timer);
    slot.isReplacing = true;
    const successor = this.#openWorker(number);
    try {
      if (!(await this.#waitForStart(successor))) {
        if (slot.worker === undefined) this.#startLater(slot, slot.backoff.next());
        const { how } = await successor.exited;
        throw new Error(
          `the successor of worker ${number} ${how} before it served; the log says why, and the others keep serving`,
        );
      }
    } finally {
      slot.isReplacing = false;
    }
    const previousWorker = slot.worker;
    slot.worker = successor;
    this.#announce();
    this.#logAndReport(`worker ${number}: process ${successor.pid} serves`, reportProgress);
    if (previousWorker === undefined) return;
    previousWorker.end('replaced');
    if ((await waitForFirst([previousWorker.exited], timeoutsMs.drain)) === notSettled) previousWorker.kill();
    const { how } = await previousWorker.exited;
    this.#logAndReport(
      `worker ${number}: process ${previousWorker.pid}, which it has replaced, ${how}`,
      reportProgress,
    );
  }

  #logAndReport(line: string, reportProgress: (line: string) => void): void {
    this.#parts.log.info(line);
    reportProgress(line);
  }

  /** @returns true if every worker ended with exit code 0 */
  async #stop(): Promise<boolean> {
    const { signals } = this.#parts;
    this.#isStopping = true;
    // Workers have descriptors of their own, so the port closes with the last worker.
    for (const socket of this.#sockets) socket.close();
    for (const { timer } of this.#slots) clearTimeout(timer);
    const orderAll = (order: StopOrder) => {
      for (const worker of this.#running) worker.end(order);
    };
    orderAll('SIGTERM');
    const skipNotice = () => orderAll('hurry');
    signals.hurry.addEventListener('abort', skipNotice);
    if (signals.hurry.aborted) skipNotice();
    runInBackground(this.#parts.log, 'ending the workers', async () => {
      await signals.third;
      orderAll('end');
      if ((await waitForFirst([this.#ended.promise], timeoutsMs.end)) === notSettled)
        for (const worker of this.#running) worker.kill();
    });
    if (this.#running.size === 0) this.#ended.resolve(this.#isClean);
    return this.#ended.promise;
  }

  /** Tells the workers the supervisor's state, because they serve pages and health checks. */
  #announce(): void {
    const crash = this.#crash && { ...this.#crash, ageMs: performance.now() - this.#crashedAt };
    const order = { kind: 'workers', workers: describeSlots(this.#slots), crash } as const;
    for (const worker of this.#ready) worker.sendOrder(order);
  }
}
