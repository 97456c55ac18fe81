import { type ChildProcess, spawn } from 'node:child_process';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import type { BoundSocket } from '#core/gateway/http/accept.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import { notSettled, waitForFirst } from '#core/platform/timing/deadline.ts';
import { environmentWithoutFile } from '../environment-file.ts';
import type { StopOrder } from '../stop-signals.ts';
import { type WorkerOrder, type WorkerReport, type WorkerSettings, createWorkerEnvironment } from './settings.ts';

const timeoutsMs = { ask: 5_000, reload: 30_000 }; // a reload may have to build thousands of models

export interface WorkerExit {
  readonly code: number | undefined; // undefined if a signal ended the process
  readonly how: string; // phrase for the log, such as "was killed by SIGKILL"
}

/** A worker process, on the supervisor's side. */
export class WorkerProcess {
  readonly number: number;
  readonly startedAt = Date.now(); // epoch ms
  readonly #startedAtMonotonic = performance.now();
  /** True when the worker is ready; false if it ends before that. */
  readonly startResult: Promise<boolean>;
  readonly exited: Promise<WorkerExit>;
  requestsInFlight = 0; // according to the last report
  checksSinceReport = 0;
  readonly #child: ChildProcess;
  readonly #responseHandlers = new Map<number, (answer: unknown) => void>();
  #lastRequestId = 0;
  #isReady = false;

  /** Starts another `daypass start`, with the code that is on disk now. */
  constructor(
    { number, workerCount, isAlone }: Omit<WorkerSettings, 'socketDescriptors'>,
    sockets: readonly BoundSocket[],
    onLoadReport: (worker: WorkerProcess) => void,
  ) {
    this.number = number;
    this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: {
        ...environmentWithoutFile(),
        ...createWorkerEnvironment({ number, workerCount, isAlone, sockets: sockets.length }),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...sockets.map((socket) => socket.fd())],
      // In its own process group, so that Ctrl-C in the terminal reaches only the supervisor.
      detached: true,
    });
    const exited = Promise.withResolvers<WorkerExit>();
    this.exited = exited.promise;
    const startResult = Promise.withResolvers<boolean>();
    this.startResult = startResult.promise;
    const onExit = (code: number | undefined, how: string) => {
      this.#isReady = false;
      exited.resolve({ code, how });
      startResult.resolve(false);
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
        startResult.resolve(true);
      } else {
        this.requestsInFlight = report.running;
        this.checksSinceReport = 0;
        onLoadReport(this);
      }
    });
  }

  get uptimeMs(): number {
    return performance.now() - this.#startedAtMonotonic;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True from the `ready` report until the worker ends or gets an order to end. */
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

  /** Ignores errors, because `exited` resolves when the process ends. */
  sendOrder(order: WorkerOrder): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  /** Undefined if the worker does not respond in time, or if its operator listener is off. */
  forwardRequest(question: ForwardedRequest): Promise<ForwardedResponse | undefined> {
    return this.#sendRequest((id) => ({ kind: 'ask', id, question }), timeoutsMs.ask) as Promise<
      ForwardedResponse | undefined
    >;
  }

  /** True if gateway.yaml was loaded or had not changed. */
  async reload(): Promise<boolean> {
    return (await this.#sendRequest((id) => ({ kind: 'reload', id }), timeoutsMs.reload)) === true;
  }

  async #sendRequest(createOrder: (id: number) => WorkerOrder, timeoutMs: number): Promise<unknown> {
    const id = ++this.#lastRequestId;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#responseHandlers.set(id, resolve);
    this.sendOrder(createOrder(id));
    const answer = await waitForFirst([promise], timeoutMs);
    this.#responseHandlers.delete(id);
    return answer === notSettled ? undefined : answer;
  }
}
