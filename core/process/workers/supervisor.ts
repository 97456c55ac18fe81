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

const timeoutsMs = {
  start: 600_000, // while other workers serve; may include migrating a large database
  drain: 3_700_000, // for a replaced worker: the maximum of `listen.drain_timeout`, plus the time to close
  exit: 7_000, // after a third signal
};

const restartDelaysMs = { min: 200, max: 30_000 };

const stableAfterMs = 60_000; // uptime that resets the crash backoff

const hangCheck = { intervalMs: 10_000, maxChecks: 6 };

const loadTolerance = { maxFactor: 1.25, maxExcess: 2 }; // relative to the workers' mean number of requests in flight

/**
 * Runs several processes that serve the same port, until a signal.
 *
 * @returns why it ended, and true if every worker ended cleanly
 * @throws StartRefused; if the first worker does not start, the process exits with that worker's exit code, because the worker has already
 *   reported the reason
 */
export async function supervise(
  plan: WorkerPlan,
  signals: StopSignals,
  log: Logger,
): Promise<[StopCause | Error, boolean]> {
  await prepareDataFolder(plan.dataFolder);
  const supervisor = new Supervisor(plan, signals, log);
  try {
    return await supervisor.run();
  } finally {
    await supervisor.close();
  }
}

class Supervisor {
  readonly #plan: WorkerPlan;
  readonly #signals: StopSignals;
  readonly #log: Logger;
  readonly #slots: readonly WorkerSlot[];
  readonly #liveWorkers = new Set<WorkerProcess>(); // including those that are stopping
  readonly #control: ControlSocket;
  readonly #operator: WorkersOperator | undefined;
  readonly #allExited = Promise.withResolvers<boolean>();
  #sockets: readonly BoundSocket[] = [];
  #crash: WorkerCrash | undefined;
  #crashedAt = -Infinity; // ms, monotonic
  #isRestarting = false;
  #isStopping = false;
  #isCleanStop = true;

  constructor(plan: WorkerPlan, signals: StopSignals, log: Logger) {
    this.#plan = plan;
    this.#signals = signals;
    this.#log = log;
    this.#slots = Array.from({ length: plan.count }, (_, index) => ({
      number: index + 1,
      backoff: new Backoff(restartDelaysMs),
      worker: undefined,
      restartTimer: undefined,
      crashes: 0,
      isReplacing: false,
    }));
    this.#control = new ControlSocket(
      plan.dataFolder,
      (action, reportProgress) => this.#performAction(action, reportProgress),
      log,
    );
    const workers = {
      ready: () => this.#readyWorkers,
      renderMetrics: (respondingWorkers: readonly number[]) => renderSlotMetrics(this.#slots, respondingWorkers),
      describe: () => describeSlots(this.#slots),
    };
    this.#operator = plan.operator && new WorkersOperator(plan.operator, workers, log);
  }

  async run(): Promise<[StopCause | Error, boolean]> {
    await this.#control.listen();
    await this.#operator?.listen();
    this.#sockets = await this.#bindSockets();
    const started = this.#startWorkers();
    const hangTimer = setInterval(() => this.#killHanging(), hangCheck.intervalMs);
    const firstSignal = this.#signals.first;
    // `started` only matters if it rejects.
    const cause = await Promise.race([firstSignal, started.then(() => firstSignal)]);
    if (cause instanceof Error) this.#log.error('unhandled error in the supervisor; the workers are stopping', cause);
    else this.#log.info(`${cause}: the workers finish requests in flight`);
    clearInterval(hangTimer);
    return [cause, await this.#stopWorkers()];
  }

  async close(): Promise<void> {
    await this.#operator?.close();
    await this.#control.close();
  }

  get #readyWorkers(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ worker }) => (worker?.isReady === true ? worker : []));
  }

  async #bindSockets(): Promise<BoundSocket[]> {
    const { host, port } = this.#plan.address;
    try {
      return await bindSockets({ host, port });
    } catch (error) {
      throw createListenRefusal(`${host}:${port}`, 'listen.port', error);
    }
  }

  async #startWorkers(): Promise<void> {
    const [first, ...others] = this.#slots as [WorkerSlot, ...WorkerSlot[]];
    // Starts first, because it migrates the database and validates the configuration.
    const firstWorker = this.#fillSlot(first);
    // As in a single process, the first start has no timeout.
    const isServing = await this.#waitForStart(firstWorker, Infinity);
    if (this.#isStopping) return;
    if (!isServing) {
      const { code = 1, how } = await firstWorker.exited;
      if (code === 0) this.#log.error(`worker 1 ${how} during startup`);
      process.exit(code === 0 ? 1 : code);
    }
    await Promise.all(others.map((slot) => this.#waitForStart(this.#fillSlot(slot))));
    if (this.#isStopping) return;
    this.#broadcastState();
    this.#readyWorkers[0]?.sendOrder({ kind: 'greet', operatorUrl: this.#operator?.url });
    this.#signals.onReload(() => runInBackground(this.#log, 'forwarding a reload', () => this.#reload()));
  }

  #fillSlot(slot: WorkerSlot): WorkerProcess {
    const worker = this.#spawnWorker(slot.number);
    slot.worker = worker;
    return worker;
  }

  #spawnWorker(number: number): WorkerProcess {
    const settings = { number, workerCount: this.#plan.count, isAlone: this.#readyWorkers.length === 0 };
    const worker = new WorkerProcess(settings, this.#sockets, (reporter) => this.#shedExcessLoad(reporter));
    this.#liveWorkers.add(worker);
    runInBackground(this.#log, 'following a worker', async () => this.#handleExit(worker, await worker.exited));
    return worker;
  }

  /** Connections stay with the worker that accepted them, so load becomes uneven after a restart or if only a few workers were idle. */
  #shedExcessLoad(worker: WorkerProcess): void {
    const ready = this.#readyWorkers;
    if (!worker.isReady || ready.length < 2) return;
    const mean = ready.reduce((sum, { requestsInFlight }) => sum + requestsInFlight, 0) / ready.length;
    if (worker.requestsInFlight <= mean * loadTolerance.maxFactor + loadTolerance.maxExcess) return;
    worker.sendOrder({ kind: 'shed', connections: Math.round(worker.requestsInFlight - mean) });
  }

  #killHanging(): void {
    // Health checks cannot detect a hung worker, because other workers respond.
    for (const worker of this.#readyWorkers) {
      if (++worker.checksSinceReport < hangCheck.maxChecks) continue;
      this.#log.error(
        `worker ${worker.number} has not responded for ${(hangCheck.maxChecks * hangCheck.intervalMs) / 1000} s; killing it`,
      );
      worker.kill();
    }
  }

  async #waitForStart(worker: WorkerProcess, timeoutMs = timeoutsMs.start): Promise<boolean> {
    const result = await waitForFirst([worker.startResult], timeoutMs);
    if (result !== notSettled) return result;
    this.#log.error(`worker ${worker.number} is not serving after ${timeoutMs / 1000} s; killing it`);
    worker.kill();
    return false;
  }

  #handleExit(worker: WorkerProcess, { code, how }: WorkerExit): void {
    this.#liveWorkers.delete(worker);
    if (this.#isStopping) {
      this.#isCleanStop &&= code === 0;
      if (this.#liveWorkers.size === 0) this.#allExited.resolve(this.#isCleanStop);
      return;
    }
    const slot = this.#slots[worker.number - 1] as WorkerSlot;
    // Replaced workers and failed successors are not in the slot.
    if (slot.worker === worker) this.#handleCrash(slot, worker, how);
  }

  #handleCrash(slot: WorkerSlot, worker: WorkerProcess, how: string): void {
    const { number, backoff } = slot;
    slot.worker = undefined;
    slot.crashes++;
    if (worker.uptimeMs > stableAfterMs) backoff.reset();
    const delayMs = backoff.next();
    const nextStep = slot.isReplacing
      ? 'its successor is already starting'
      : `restarting it in ${Math.ceil(delayMs)} ms`;
    this.#log.error(`worker ${number} (process ${worker.pid}) ${how}; ${nextStep}`);
    this.#crash = { worker: number, how, at: Date.now() };
    this.#crashedAt = performance.now();
    this.#broadcastState();
    if (!slot.isReplacing) this.#scheduleRestart(slot, delayMs);
  }

  #scheduleRestart(slot: WorkerSlot, delayMs: number): void {
    const start = async () => {
      if (!(await this.#waitForStart(this.#fillSlot(slot)))) return;
      this.#log.info(`worker ${slot.number} is serving again`);
      this.#broadcastState();
    };
    slot.restartTimer = setTimeout(() => runInBackground(this.#log, 'restarting a worker', start), delayMs);
  }

  async #performAction(action: Action, reportProgress: (line: string) => void): Promise<void> {
    if (this.#isStopping && action !== 'stop') throw new Error('the gateway is stopping');
    if (action === 'restart') await this.#replaceAll(reportProgress);
    else if (action === 'reload') await this.#reload();
    else {
      this.#signals.followOrder('SIGTERM');
      if (!(await this.#allExited.promise)) throw new Error('a worker did not exit cleanly; see the log');
    }
  }

  async #reload(): Promise<void> {
    const reloaded = await Promise.all(this.#readyWorkers.map((worker) => worker.reload()));
    if (!reloaded.every(Boolean)) throw new Error('gateway.yaml was not reloaded by every worker; the log says why');
  }

  /** @throws Error if a successor does not start; then its slot and all later ones keep their workers */
  async #replaceAll(reportProgress: (line: string) => void): Promise<void> {
    if (this.#isRestarting) throw new Error('the workers are already being replaced');
    this.#isRestarting = true;
    try {
      for (const slot of this.#slots) await this.#replaceWorker(slot, reportProgress);
    } finally {
      this.#isRestarting = false;
    }
  }

  async #replaceWorker(slot: WorkerSlot, reportProgress: (line: string) => void): Promise<void> {
    const { number } = slot;
    if (this.#isStopping) throw new Error('the gateway is stopping');
    const successor = this.#spawnWorker(number);
    clearTimeout(slot.restartTimer);
    slot.isReplacing = true;
    const isServing = await this.#waitForStart(successor);
    slot.isReplacing = false;
    if (!isServing) {
      if (slot.worker === undefined && !this.#isStopping) this.#scheduleRestart(slot, slot.backoff.next());
      const { how } = await successor.exited;
      throw new Error(
        `the successor of worker ${number} ${how} before it served; the log says why, and the others keep serving`,
      );
    }
    const previousWorker = slot.worker;
    slot.worker = successor;
    this.#broadcastState();
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
    this.#log.info(line);
    reportProgress(line);
  }

  async #stopWorkers(): Promise<boolean> {
    this.#isStopping = true;
    // Workers have their own descriptors, so the port closes with the last worker.
    for (const socket of this.#sockets) socket.close();
    for (const { restartTimer } of this.#slots) clearTimeout(restartTimer);
    const orderAll = (order: StopOrder) => {
      for (const worker of this.#liveWorkers) worker.end(order);
    };
    orderAll('SIGTERM');
    const { hurry, third } = this.#signals;
    const orderHurry = () => orderAll('hurry');
    hurry.addEventListener('abort', orderHurry);
    if (hurry.aborted) orderHurry();
    runInBackground(this.#log, 'ending the workers', async () => {
      await third;
      orderAll('end');
      if ((await waitForFirst([this.#allExited.promise], timeoutsMs.exit)) === notSettled)
        for (const worker of this.#liveWorkers) worker.kill();
    });
    if (this.#liveWorkers.size === 0) this.#allExited.resolve(this.#isCleanStop);
    return this.#allExited.promise;
  }

  #broadcastState(): void {
    // The workers show the state on pages and in health checks.
    const crash = this.#crash && { ...this.#crash, ageMs: performance.now() - this.#crashedAt };
    const order = { kind: 'workers', workers: describeSlots(this.#slots), crash } as const;
    for (const worker of this.#readyWorkers) worker.sendOrder(order);
  }
}
