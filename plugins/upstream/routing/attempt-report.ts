import { type Delivery, delivery } from '#core/gateway/facts.ts';
import { listSecrets } from '#core/gateway/model-call/upstream-credentials.ts';
import { removeSecrets } from '#core/gateway/model-call/upstream-error.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { noteFailure } from '#core/platform/background.ts';
import { describeFault, type Fault, faultEffects, describeRefusal } from '../attempt/fault.ts';
import type { RouteFailure } from '../health/evidence.ts';
import type { Requester } from '../health/requester.ts';
import type { AdmittedRoute } from './admission.ts';
import type { RelayParts } from './relay-parts.ts';

interface AttemptSettings {
  readonly key: string;
  readonly format: string;
  readonly requester: Requester;
}

/** Reports one attempt to the request record, the key and the route's health. Creating it starts the attempt. */
export class AttemptReport {
  readonly #parts: Pick<RelayParts, 'health' | 'log' | 'monotonic'>;
  readonly #exchange: Exchange;
  readonly #delivery: Delivery;
  readonly #admitted: AdmittedRoute;
  readonly #settings: AttemptSettings;
  readonly startedAt: number; // ms after the start of the exchange
  #firstContentMs: number | undefined; // after `startedAt`

  constructor(
    parts: Pick<RelayParts, 'health' | 'log' | 'monotonic'>,
    exchange: Exchange,
    admitted: AdmittedRoute,
    settings: AttemptSettings,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#delivery = exchange.get(delivery);
    this.#admitted = admitted;
    this.#settings = settings;
    this.startedAt = exchange.elapsed;
  }

  noteContent(): void {
    const { route, keys, admission } = this.#admitted;
    this.#firstContentMs = this.#exchange.elapsed - this.startedAt;
    this.#delivery.firstContentAfter ??= this.#exchange.elapsed;
    keys.recordAcceptance(this.#settings.key);
    this.#parts.health.noteContent(route, admission, this.#settings.requester);
  }

  /** `measurement` is undefined if the durations do not measure the route; its `tokens` are set if they measure its throughput. */
  end(
    fault: Fault | undefined,
    status: number | undefined,
    measurement: { readonly tokens: number | undefined } | undefined,
  ): void {
    this.#addToRecord(fault, status);
    if (fault?.error.details.upstream?.isPolicyRefusal === true) this.#delivery.isPolicyRefusal = true;
    const { route, admission } = this.#admitted;
    if (fault !== undefined) return this.#applyEffects(fault);
    const durationMs = this.#exchange.elapsed - this.startedAt;
    const timing = measurement && { firstContentMs: this.#firstContentMs ?? 0, durationMs, ...measurement };
    this.#parts.health.recordSuccess(route, admission, timing, this.#settings.requester);
  }

  #applyEffects(fault: Fault): void {
    const { health } = this.#parts;
    const { route, keys, admission } = this.#admitted;
    const { key, requester } = this.#settings;
    const { key: keyEffect, breaker } = faultEffects[fault.kind];
    if (keyEffect === 'refuse') this.#reportRejectedKey(fault);
    if (fault.kind === 'local')
      noteFailure(this.#parts.log, 'opening a connection to an upstream', fault.error.cause, this.#exchange.id);
    if (keyEffect === 'cooldown') {
      const now = this.#parts.monotonic();
      keys.recordThrottling(key, route.model, now, now + (fault.error.details.retryAfter ?? 1) * 1000);
    }
    if (fault.isSilentConnection) health.recordSetback(route, requester);
    if (breaker === 'release' || fault.isStaleConnection || fault.isSilentConnection) health.release(route, admission);
    else if (breaker === 'last') health.recordMissingModel(route, admission, describeFault(fault));
    else health.recordFailure(route, admission, createRouteFailure(fault, requester));
  }

  #reportRejectedKey(fault: Fault): void {
    const { log, monotonic } = this.#parts;
    const { route, keys } = this.#admitted;
    const { key } = this.#settings;
    const { closing } = fault;
    const message = describeRefusal(fault);
    const { name: upstream } = route.upstream;
    const closure = closing && { upstream, rule: closing, message, request: this.#exchange.id };
    if (closure !== undefined && keys.recordClosure(key, closure)) return;
    const seconds = keys.recordRejection(key, monotonic());
    if (seconds === 0) return;
    const keyName = `key ${keys.getPosition(key)} of ${keys.size}`;
    const event = `upstream ${upstream} rejected ${keyName} for ${this.#exchange.id}`;
    // Only the operator can fix the key.
    log.warn(`${event}; not used for ${seconds} s: ${message}`);
  }

  #addToRecord(fault: Fault | undefined, status: number | undefined): void {
    const isAborted = fault === undefined ? this.#exchange.isAborted : fault.kind === 'gone';
    const outcome = fault === undefined ? 'served' : 'failed';
    const { attempts } = this.#delivery;
    const index = attempts.findLastIndex(({ startedAt }) => startedAt <= this.startedAt) + 1;
    attempts.splice(index, 0, {
      route: this.#admitted.route.id,
      format: this.#settings.format,
      status,
      startedAt: this.startedAt,
      duration: this.#exchange.elapsed - this.startedAt,
      outcome: isAborted ? 'aborted' : outcome,
      fault: fault?.kind,
      error: fault === undefined ? undefined : this.#describeForRecord(fault),
    });
  }

  #describeForRecord(fault: Fault): string {
    // Customers can read the record, so system error messages must not contain hosts and addresses.
    const text = describeFault(fault);
    return removeSecrets(text, text.length, listSecrets(this.#admitted.route.upstream));
  }
}

function createRouteFailure(fault: Fault, requester: Requester): RouteFailure {
  const { mayBeCausedByRequest, error } = fault;
  const retryAfterMs = (error.details.retryAfter ?? 0) * 1000;
  return { reason: describeFault(fault), requester, mayBeCausedByRequest, retryAfterMs };
}
