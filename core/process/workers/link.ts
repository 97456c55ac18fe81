import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import { createWorkersReport, type WorkerStatus } from '#core/gateway/health/worker-status.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { StopSignals } from '../stop-signals.ts';
import type { WorkerCrash, WorkerOrder, WorkerReport } from './settings.ts';

const unhealthyAfterCrashMs = 600_000;
const reportIntervalMs = 2_000;

interface Worker {
  requestsInFlight(): number;
  shedConnections(connections: number): void;
  respondToOperator(question: ForwardedRequest): Promise<ForwardedResponse> | undefined;
  reload(): Promise<boolean>; // false if gateway.yaml was refused
  greet(operatorUrl: string | undefined): Promise<void>;
}

/**
 * A worker's side of the channel to its supervisor. If the supervisor ends, the worker immediately frees the port for the next supervisor,
 * finishes its requests, and stops.
 */
export class SupervisorLink {
  readonly healthCheck: HealthCheck = { name: 'workers', check: ({ monotonic }) => this.#checkHealth(monotonic()) };
  readonly statusReport = createWorkersReport(() => this.#workers);
  #worker: Worker | undefined;
  #workers: readonly WorkerStatus[] = [];
  #crash: WorkerCrash | undefined;
  #unhealthyUntil = -Infinity; // ms, monotonic

  constructor(signals: StopSignals, log: Logger) {
    process.on('message', (order: WorkerOrder) => {
      if (order.kind === 'stop') signals.followOrder(order.order);
      else runInBackground(log, 'handling an order from the supervisor', () => this.#followOrder(order));
    });
    process.once('disconnect', () => signals.followOrder('supervisor lost'));
  }

  /** Reports to the supervisor that this worker is ready and then, at intervals, its load. */
  serve(worker: Worker): void {
    this.#worker = worker;
    this.#sendReport({ kind: 'ready' });
    setInterval(() => this.#sendReport({ kind: 'load', running: worker.requestsInFlight() }), reportIntervalMs).unref();
  }

  async #followOrder(order: Exclude<WorkerOrder, { kind: 'stop' }>): Promise<void> {
    const worker = this.#worker;
    switch (order.kind) {
      case 'workers':
        return this.#storeWorkers(order);
      case 'shed':
        return worker?.shedConnections(order.connections);
      case 'greet':
        return worker?.greet(order.operatorUrl);
      case 'reload':
        return this.#sendReport({ kind: 'answer', id: order.id, answer: await worker?.reload() });
      case 'ask':
        return this.#sendReport({
          kind: 'answer',
          id: order.id,
          answer: await worker?.respondToOperator(order.question),
        });
    }
  }

  #storeWorkers({ workers, crash }: Extract<WorkerOrder, { kind: 'workers' }>): void {
    this.#workers = workers;
    this.#crash = crash;
    if (crash !== undefined) this.#unhealthyUntil = performance.now() + unhealthyAfterCrashMs - (crash.ageMs ?? 0);
  }

  #sendReport(report: WorkerReport): void {
    // Errors are ignored, because `disconnect` reports that the supervisor is gone.
    if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
  }

  #checkHealth(now: number): HealthVerdict {
    if (this.#crash === undefined || now > this.#unhealthyUntil) return { ok: true };
    const { worker, how, at } = this.#crash;
    return { ok: false, reason: healthReason('health.reason.worker', { worker, how }), since: at };
  }
}
