import { noteFailure } from '#core/platform/background.ts';
import { type Delivery, delivery } from '#core/gateway/facts.ts';
import { removeSecrets } from '#core/gateway/model-call/upstream-error.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Requester } from '../health/requester.ts';
import type { AdmittedRoute } from './admission.ts';
import { describeFault, type Fault, faultEffects, upstreamRefusal } from '../attempt/fault.ts';
import { secretsOf } from '#core/gateway/model-call/upstream-credentials.ts';
import type { RouteFailure } from '../health/evidence.ts';
import type { RelayParts } from './relay-parts.ts';

interface AttemptChoice {
  readonly key: string;
  readonly format: string;
  readonly requester: Requester;
}

/** Reports one attempt to the request record, the key and the route's health. Construction starts the attempt. */
export class AttemptReport {
  readonly #parts: Pick<RelayParts, 'health' | 'log' | 'monotonic'>;
  readonly #exchange: Exchange;
  readonly #delivery: Delivery;
  readonly #admitted: AdmittedRoute;
  readonly #choice: AttemptChoice;
  readonly startedAt: number; // ms since the exchange began
  #contentAfter: number | undefined; // ms

  constructor(
    parts: Pick<RelayParts, 'health' | 'log' | 'monotonic'>,
    exchange: Exchange,
    admitted: AdmittedRoute,
    choice: AttemptChoice,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#delivery = exchange.get(delivery);
    this.#admitted = admitted;
    this.#choice = choice;
    this.startedAt = exchange.elapsed;
  }

  noteContent(): void {
    const { route, keys, admission } = this.#admitted;
    this.#contentAfter = this.#exchange.elapsed - this.startedAt;
    this.#delivery.firstContentAfter ??= this.#exchange.elapsed;
    keys.accept(this.#choice.key);
    this.#parts.health.noteContent(route, admission, this.#choice.requester);
  }

  /**
   * Ends the attempt.
   *
   * @param fault undefined if it served
   * @param status of the upstream's answer
   * @param measured undefined if its durations do not measure the route; `tokens` is set if they measure the throughput
   */
  over(
    fault: Fault | undefined,
    status: number | undefined,
    measured: { readonly tokens: number | undefined } | undefined,
  ): void {
    this.#record(fault, status);
    if (fault?.error.details.upstream?.isPolicyRefusal === true) this.#delivery.isPolicyRefusal = true;
    const { route, admission } = this.#admitted;
    if (fault !== undefined) return this.#applyEffects(fault);
    const duration = this.#exchange.elapsed - this.startedAt;
    const timing = measured && { firstContentAfter: this.#contentAfter ?? 0, duration, ...measured };
    this.#parts.health.served(route, admission, timing, this.#choice.requester);
  }

  #applyEffects(fault: Fault): void {
    const { health } = this.#parts;
    const { route, keys, admission } = this.#admitted;
    const { key, requester } = this.#choice;
    const { key: keyEffect, breaker } = faultEffects[fault.kind];
    if (keyEffect === 'refuse') this.#refuse(fault);
    if (fault.kind === 'local')
      noteFailure(this.#parts.log, 'opening a connection to an upstream', fault.error.cause, this.#exchange.id);
    if (keyEffect === 'cooldown') {
      const now = this.#parts.monotonic();
      keys.coolDown(key, route.model, now, now + (fault.error.details.retryAfter ?? 1) * 1000);
    }
    if (fault.isSilentConnection) health.setBack(route, requester);
    if (breaker === 'release' || fault.isStaleConnection || fault.isSilentConnection) health.released(route, admission);
    else if (breaker === 'last') health.lacksModel(route, admission, describeFault(fault));
    else health.failed(route, admission, routeFailure(fault, requester));
  }

  /** Only the operator can fix a rejected key, so each cooldown gets a log line. */
  #refuse(fault: Fault): void {
    const { log, monotonic } = this.#parts;
    const { route, keys } = this.#admitted;
    const { key } = this.#choice;
    const { closing } = fault;
    const words = upstreamRefusal(fault);
    const { name: upstream } = route.upstream;
    if (closing !== undefined && keys.close(key, { upstream, closing, words, request: this.#exchange.id })) return;
    const seconds = keys.refuse(key, monotonic());
    if (seconds === 0) return;
    const keyName = `key ${keys.positionOf(key)} of ${keys.size}`;
    const event = `upstream ${upstream} rejected ${keyName} for ${this.#exchange.id}`;
    log.warn(`${event}; not used for ${seconds} s: ${words}`);
  }

  #record(fault: Fault | undefined, status: number | undefined): void {
    const isAborted = fault === undefined ? this.#exchange.isAborted : fault.kind === 'gone';
    const { attempts } = this.#delivery;
    const index = attempts.findLastIndex(({ startedAt }) => startedAt <= this.startedAt) + 1;
    attempts.splice(index, 0, {
      route: this.#admitted.route.id,
      format: this.#choice.format,
      status,
      startedAt: this.startedAt,
      duration: this.#exchange.elapsed - this.startedAt,
      outcome: isAborted ? 'aborted' : fault === undefined ? 'served' : 'failed',
      fault: fault?.kind,
      error: fault === undefined ? undefined : this.#describe(fault),
    });
  }

  /** For the record, which customers can read: system error messages contain hosts and addresses of upstreams. */
  #describe(fault: Fault): string {
    const text = describeFault(fault);
    return removeSecrets(text, text.length, secretsOf(this.#admitted.route.upstream));
  }
}

function routeFailure(fault: Fault, requester: Requester): RouteFailure {
  const { mayBeCausedByRequest, error } = fault;
  const retryAfter = (error.details.retryAfter ?? 0) * 1000;
  return { reason: describeFault(fault), requester, mayBeCausedByRequest, retryAfter };
}
