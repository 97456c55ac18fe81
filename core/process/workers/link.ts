import type { HealthCheck, HealthVerdict } from '#core/gateway/health/health-check.ts';
import { workersReport, type WorkerStatus } from '#core/gateway/health/worker-status.ts';
import { healthReason } from '#core/gateway/health/health-reason.ts';
import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { ForwardedResponse, ForwardedRequest } from '#core/gateway/operator-listener/server.ts';
import type { StopSignals } from '../stop-signals.ts';
import type { WorkerCrash, WorkerOrder, WorkerReport } from './settings.ts';

const unhealthyForMs = 600_000;
const reportIntervalMs = 2_000;

interface Worker {
  running(): number;
  /** Closes the connections of this many further responses. */
  shed(connections: number): void;
  answerOperator(question: ForwardedRequest): Promise<ForwardedResponse> | undefined;
  /** Reloads gateway.yaml. @returns false if it was rejected, which is logged */
  reload(): Promise<boolean>;
  greet(operatorUrl: string | undefined): Promise<void>;
}

/**
 * A worker's side of the channel to its supervisor. If the supervisor ends, the worker stops too: it finishes its requests, and
 * frees the port for the next supervisor at once.
 */
export class SupervisorLink {
  readonly healthCheck: HealthCheck = { name: 'workers', check: ({ now }) => this.#check(now()) };
  readonly statusReport = workersReport(() => this.#workers);
  #worker: Worker | undefined;
  #workers: readonly WorkerStatus[] = [];
  #crash: WorkerCrash | undefined;

  constructor(signals: StopSignals, log: Logger) {
    process.on('message', (order: WorkerOrder) => {
      if (order.kind === 'stop') signals.obey(order.order);
      else runInBackground(log, 'an order of the supervisor', () => this.#follow(order));
    });
    process.once('disconnect', () => signals.obey('supervisor lost'));
  }

  /** Reports to the supervisor that this worker serves. */
  serve(worker: Worker): void {
    this.#worker = worker;
    this.#report({ kind: 'ready' });
    setInterval(() => this.#report({ kind: 'load', running: worker.running() }), reportIntervalMs).unref();
  }

  async #follow(order: Exclude<WorkerOrder, { kind: 'stop' }>): Promise<void> {
    const worker = this.#worker;
    if (order.kind === 'workers') [this.#workers, this.#crash] = [order.workers, order.crash];
    else if (order.kind === 'shed') worker?.shed(order.connections);
    else if (order.kind === 'greet') await worker?.greet(order.operatorUrl);
    else {
      const { id } = order;
      const answer = order.kind === 'reload' ? worker?.reload() : worker?.answerOperator(order.question);
      this.#report({ kind: 'answer', id, answer: await answer });
    }
  }

  /** Sends a report. A failed send means that the supervisor is gone, which `disconnect` reports. */
  #report(report: WorkerReport): void {
    if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
  }

  #check(now: number): HealthVerdict {
    if (this.#crash === undefined || now - this.#crash.at > unhealthyForMs) return { ok: true };
    const { worker, how, at } = this.#crash;
    return { ok: false, reason: healthReason('health.reason.worker', { worker, how }), since: at };
  }
}
