import { type ChildProcess, spawn } from 'node:child_process';
import type { BoundSocket } from '#core/gateway/http/accept.ts';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { environmentWithoutFile } from '../environment-file.ts';
import type { StopOrder } from '../stop-signals.ts';
import { type WorkerOrder, type WorkerReport, type WorkerSettings, workerEnvironment } from './settings.ts';

const timeoutsMs = { ask: 5_000, reload: 30_000 }; // a reload may build thousands of models

/** End of a worker. */
export interface WorkerExit {
  /** Exit code; undefined if a signal ended the process. */
  readonly code: number | undefined;
  /** Description for the log: "was killed by SIGKILL", "exited with code 1". */
  readonly how: string;
}

/** One process of several, as its supervisor sees it. */
export class WorkerProcess {
  readonly number: number;
  /** Epoch ms. */
  readonly startedAt = Date.now();
  /** Resolves with true once the worker serves, or with false if it ends before. */
  readonly served: Promise<boolean>;
  readonly exited: Promise<WorkerExit>;
  /** Requests in flight at the last report. */
  running = 0;
  /** Number of the supervisor's checks since the last report. */
  missed = 0;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  #asked = 0;
  #isReady = false;

  /**
   * Starts another `daypass start`, with the code that is on disk now.
   *
   * @param onLoad called at each load report
   */
  constructor(
    { number, count, isAlone }: Omit<WorkerSettings, 'descriptors'>,
    sockets: readonly BoundSocket[],
    onLoad: (worker: WorkerProcess) => void,
  ) {
    this.number = number;
    this.#child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      env: { ...environmentWithoutFile(), ...workerEnvironment({ number, count, isAlone, sockets: sockets.length }) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...sockets.map((socket) => socket.fd())],
      // Ctrl-C in the terminal reaches only the supervisor.
      detached: true,
    });
    const exited = Promise.withResolvers<WorkerExit>();
    this.exited = exited.promise;
    const served = Promise.withResolvers<boolean>();
    this.served = served.promise;
    const onExit = (code: number | undefined, how: string) => {
      this.#isReady = false;
      exited.resolve({ code, how });
      served.resolve(false);
      for (const resolve of this.#waiting.values()) resolve(undefined);
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
      if (report.kind === 'answer') return this.#waiting.get(report.id)?.(report.answer);
      if (report.kind === 'ready') {
        this.#isReady = true;
        served.resolve(true);
      } else {
        this.running = report.running;
        this.missed = 0;
        onLoad(this);
      }
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True from the time it serves until it is asked to end. */
  get isReady(): boolean {
    return this.#isReady;
  }

  end(order: StopOrder): void {
    this.#isReady = false;
    this.tell({ kind: 'stop', order });
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Sends an order. A failed send means that the process has ended, which `exited` reports. */
  tell(order: WorkerOrder): void {
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  /** Forwards an operator request; undefined if the worker does not answer in time or its operator listener is off. */
  ask(question: ForwardedRequest): Promise<ForwardedResponse | undefined> {
    return this.#request((id) => ({ kind: 'ask', id, question }), timeoutsMs.ask) as Promise<
      ForwardedResponse | undefined
    >;
  }

  /** Reloads gateway.yaml. True if it was loaded or had not changed. */
  async reload(): Promise<boolean> {
    return (await this.#request((id) => ({ kind: 'reload', id }), timeoutsMs.reload)) === true;
  }

  async #request(order: (id: number) => WorkerOrder, timeout: number): Promise<unknown> {
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, resolve);
    this.tell(order(id));
    const answer = await waitForFirst([promise], timeout);
    this.#waiting.delete(id);
    return typeof answer === 'symbol' ? undefined : answer;
  }
}
