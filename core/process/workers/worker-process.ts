import { type ChildProcess, spawn } from 'node:child_process';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import type { BoundSocket } from '#core/gateway/http/accept.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { environmentWithoutFile } from '../environment-file.ts';
import type { StopOrder } from '../stop-signals.ts';
import { type WorkerOrder, type WorkerReport, type WorkerSettings, createWorkerEnvironment } from './settings.ts';

const timeoutsMs = { ask: 5_000, reload: 30_000 }; // a reload may have to build thousands of models

/** How a worker ended. */
export interface WorkerExit {
  /** Exit code; undefined if a signal ended the process. */
  readonly code: number | undefined;
  /** In words for the log, such as "was killed by SIGKILL". */
  readonly how: string;
}

/** A worker, as its supervisor sees it. */
export class WorkerProcess {
  readonly number: number;
  /** Epoch ms. */
  readonly startedAt = Date.now();
  readonly #startedAtMonotonic = performance.now();
  /** Resolves with true when the worker is ready, or with false if it ends before that. */
  readonly startResult: Promise<boolean>;
  readonly exited: Promise<WorkerExit>;
  /** Requests in flight, according to the last report. */
  running = 0;
  /** How many checks the supervisor has made since the last report. */
  missedReports = 0;
  readonly #child: ChildProcess;
  readonly #responseHandlers = new Map<number, (answer: unknown) => void>();
  #lastRequestId = 0;
  #isReady = false;

  /**
   * Starts another `daypass start`, running the code that is on disk now.
   *
   * @param onLoad called for each report about the load
   */
  constructor(
    { number, count, isAlone }: Omit<WorkerSettings, 'descriptors'>,
    sockets: readonly BoundSocket[],
    onLoad: (worker: WorkerProcess) => void,
  ) {
    this.number = number;
    this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: {
        ...environmentWithoutFile(),
        ...createWorkerEnvironment({ number, count, isAlone, sockets: sockets.length }),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...sockets.map((socket) => socket.fd())],
      // In its own process group, so that Ctrl-C in the terminal reaches only the supervisor.
      detached: true,
    });
    const exited = Promise.withResolvers<WorkerExit>();
    this.exited = exited.promise;
    const served = Promise.withResolvers<boolean>();
    this.startResult = served.promise;
    const onExit = (code: number | undefined, how: string) => {
      this.#isReady = false;
      exited.resolve({ code, how });
      served.resolve(false);
      for (const resolve of this.#responseHandlers.values()) resolve(undefined);
    };
    this.#child.once('error', ({ message }) =>
      onExit(undefined, healthReason('health.reason.worker_not_started', { message })),
    );
    this.#child.once('exit', (code, signal) =>
      onExit(
        code ?? undefined,
        signal === null
          ? healthReason('health.reason.worker_exited', { code: code ?? 0 })
          : healthReason('health.reason.worker_killed', { signal }),
      ),
    );
    this.#child.on('message', (report: WorkerReport) => {
      if (report.kind === 'answer') return this.#responseHandlers.get(report.id)?.(report.answer);
      if (report.kind === 'ready') {
        this.#isReady = true;
        served.resolve(true);
      } else {
        this.running = report.running;
        this.missedReports = 0;
        onLoad(this);
      }
    });
  }

  get uptimeMs(): number {
    return performance.now() - this.#startedAtMonotonic;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True from the `ready` report until the worker ends or is told to end. */
  get isReady(): boolean {
    return this.#isReady;
  }

  end(order: StopOrder): void {
    this.#isReady = false;
    this.sendOrder({ kind: 'stop', order });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Sends an order. Errors are ignored, because `exited` tells us if the process has ended. */
  sendOrder(order: WorkerOrder): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  /** Forwards an operator request; undefined if the worker does not respond in time, or if its operator listener is off. */
  forwardRequest(question: ForwardedRequest): Promise<ForwardedResponse | undefined> {
    return this.#sendRequest((id) => ({ kind: 'ask', id, question }), timeoutsMs.ask) as Promise<
      ForwardedResponse | undefined
    >;
  }

  /** Reloads gateway.yaml. Returns true if it was loaded or had not changed. */
  async reload(): Promise<boolean> {
    return (await this.#sendRequest((id) => ({ kind: 'reload', id }), timeoutsMs.reload)) === true;
  }

  async #sendRequest(order: (id: number) => WorkerOrder, timeout: number): Promise<unknown> {
    const id = ++this.#lastRequestId;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#responseHandlers.set(id, resolve);
    this.sendOrder(order(id));
    const answer = await waitForFirst([promise], timeout);
    this.#responseHandlers.delete(id);
    return typeof answer === 'symbol' ? undefined : answer;
  }
}
