import { inBackground, noteFailure } from '#core/platform/background.ts';
import type { Route } from '#core/config/catalog/catalog.ts';
import { withOutputLimit } from '#core/config/catalog/profile.ts';
import type { ReplyReader, RouteCalls, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { answerDigests } from '#core/gateway/facts.ts';
import { createKeyRefusedError } from '#core/gateway/model-call/upstream-error.ts';
import { attemptSpanId, outgoingTrace } from '#core/gateway/trace-context.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { Attempt } from '../attempt/attempt.ts';
import type { AttemptRequest } from '../attempt/contract.ts';
import { targetOf } from '../connections/connections.ts';
import { Fault, faultEffects, goneFault, hedgeLostFault, withModelName } from '../attempt/fault.ts';
import { AttemptReport } from './attempt-report.ts';
import { type AdmittedRoute, throttlingOf } from './admission.ts';
import { authHeaders, secretsOf } from '#core/gateway/model-call/upstream-credentials.ts';
import { isSameModel } from './same-model.ts';
import type { RelayContext } from './relay-context.ts';

/** Answer of one route, or its continuation of a broken answer. */
export interface RouteAnswer {
  reply: Reply;
  readonly reader: ReplyReader;
  /** The fault that truncated the answer; set once it ended. */
  readonly ending: { fault: Fault | undefined };
}

/** Attempts on one route, with one key after another while the key is at fault. */
export class RouteAttempts {
  readonly route: Route;
  /** Number of attempts of the request before this route. */
  readonly order: number;
  readonly #context: RelayContext;
  readonly #admitted: AdmittedRoute;
  readonly #calls: RouteCalls;
  /** The route used to encode requests; with a lower output limit once the upstream reported one. */
  #target: Route;
  #attempt: Attempt | undefined;
  #isStopped = false;

  /** @param calls encode the request for an answer, or for a continuation */
  constructor(context: RelayContext, admitted: AdmittedRoute, calls: RouteCalls) {
    this.route = admitted.route;
    this.#target = admitted.route;
    this.order = context.allowance.used;
    this.#context = context;
    this.#admitted = admitted;
    this.#calls = calls;
  }

  async run(): Promise<RouteAnswer | Fault> {
    let isHandedOver = false;
    try {
      const result = await this.#run();
      isHandedOver = !(result instanceof Fault);
      return result;
    } finally {
      // The slot of an answer is released when the answer ends.
      if (!isHandedOver) this.#release(false);
    }
  }

  /**
   * Frees the slot, if any, in the background.
   *
   * @param isServed true after a complete response
   */
  #release(isServed: boolean): void {
    const { slot } = this.#admitted;
    if (slot !== undefined) inBackground(this.#context.parts.log, 'freeing a slot', () => slot.release(isServed));
  }

  async #run(): Promise<RouteAnswer | Fault> {
    const { parts } = this.#context;
    for (;;) {
      let result = await this.#tryOnLiveConnection();
      if (result instanceof Fault && this.#lowersLimit(result)) result = await this.#tryOnLiveConnection();
      if (!(result instanceof Fault) || faultEffects[result.kind].next !== 'key') return result;
      const isReady = this.#admitted.keys.isReady(parts.monotonic(), this.route.model);
      // If all keys are throttled, report the wait for the first one available.
      if (!isReady || !this.#mayTryAgain()) return throttlingOf(parts, this.route, result) ?? result;
    }
  }

  /** Ends the attempt in flight, and starts no other. */
  stop(fault: Fault): void {
    this.#isStopped = true;
    this.#attempt?.end(fault);
  }

  /** The last attempt is reserved for another route, if there is one. */
  #mayTryAgain(): boolean {
    const { allowance, candidates } = this.#context;
    if (this.#isStopped || !allowance.hasAttempts) return false;
    return !(allowance.isLastAttempt && !candidates.isEmpty) && allowance.mayRetry();
  }

  /**
   * If an upstream rejects the output token limit and reports its maximum, it is tried once more with that, without a charge to the retry
   * budget: nothing failed, and no other route is more likely to serve.
   */
  #lowersLimit({ error: { details } }: Fault): boolean {
    const { outputLimit: limit } = details;
    const isLowered = this.#target !== this.route;
    if (limit === undefined || isLowered || this.#isStopped || !this.#context.allowance.hasAttempts) return false;
    this.#target = { ...this.route, profile: withOutputLimit(this.route.profile, limit) };
    return true;
  }

  /**
   * A connection closed while idle is not the route's fault: the request is retried within the same attempt. After a timeout on a reused
   * connection, and if no other route is left, the route is tried once more on a new connection.
   */
  async #tryOnLiveConnection(): Promise<RouteAnswer | Fault> {
    this.#context.allowance.useAttempt();
    const result = await this.#try();
    if (!(result instanceof Fault) || this.#isStopped) return result;
    if (result.isStaleConnection) return this.#try();
    if (!result.isSilentConnection || !this.#context.candidates.isEmpty || !this.#mayTryAgain()) return result;
    this.#context.allowance.useAttempt();
    return this.#try();
  }

  async #try(): Promise<RouteAnswer | Fault> {
    const { parts, exchange, adapter, requester, seat, notes, hedgeTimer } = this.#context;
    const { route, keys } = this.#admitted;
    const isContinuation = this.#calls !== adapter;
    const { session, place } = seat ?? {};
    const key = keys.pick(parts.monotonic(), route.model, session, place?.routeId === route.id ? place.key : undefined);
    const request = this.#calls.encode(this.#target);
    const reader = this.#calls.read(this.#target);
    const ending: RouteAnswer['ending'] = { fault: undefined };
    const report = new AttemptReport(parts, exchange, this.#admitted, { key, format: request.format, requester });
    const credential = route.upstream.credentials === undefined ? key : await this.#token();
    if (credential instanceof Fault) {
      report.over(credential, undefined, undefined);
      return credential;
    }
    const connecting = parts.connections.queue(targetOf(route).origin).enter();
    hedgeTimer.connecting(connecting);
    const end = (fault: Fault | undefined) => {
      connecting.leave();
      this.#attempt = undefined;
      if (fault?.kind === 'key' && credential !== key) parts.tokens?.(route).discard(credential);
      if (fault?.isSilentConnection === true) parts.connections.replace(address.agent);
      // Usage of a continuation includes the tokens before it, and a slow client delays any route.
      const isMeasured = !isContinuation && !attempt.clock.wasHeldBack;
      const tokens = isMeasured ? reader.usage?.output : undefined;
      this.#admitted.slot?.observe(fault, attempt.headers, this.#admitted.keys.size);
      parts.limits?.observe(route.upstream, attempt.headers);
      report.over(fault, attempt.status || undefined, attempt.clock.wasInterrupted ? undefined : { tokens });
    };
    const onEnd = (fault: Fault | undefined) => {
      this.#context.delivery.usage = reader.usage;
      notes.add(reader.notes);
      this.#noteAnswer(reader);
      if (reader.isPolicyRefusal === true) this.#context.delivery.isPolicyRefusal = true;
      ending.fault = fault;
      seat?.leave();
      end(fault);
      if (fault !== undefined) this.#reportBreak(fault);
      this.#release(fault === undefined);
    };
    const address = requestTo(this.#context, route, credential, request, report.startedAt);
    const attempt = new Attempt(
      {
        ...address,
        onConnected: () => connecting.leave(),
        onContent: () => {
          report.noteContent();
          seat?.serve(route, key, reader);
        },
        onEnd,
        onFailure: (error) => noteFailure(parts.log, 'reading a response of an upstream', error, exchange.id),
        createReader: () => this.#calls.read(this.#target),
      },
      reader,
    );
    this.#attempt = attempt;
    if (exchange.abortReason !== undefined) attempt.end(goneFault(exchange.abortReason));
    try {
      const reply = await attempt.run();
      if (this.#isStopped) return hedgeLostFault();
      const losses = [...(request.notes ?? []), ...(reader.notes ?? [])];
      if (!isContinuation) return { reply: notes.addTo(reply, losses), reader, ending };
      notes.addContinuation(losses);
      return { reply, reader, ending };
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      end(thrown);
      return thrown;
    }
  }

  async #token(): Promise<string | Fault> {
    const { parts } = this.#context;
    try {
      const token = await parts.tokens?.(this.route).get();
      return this.#isStopped ? hedgeLostFault() : (token ?? '');
    } catch (error) {
      return new Fault(
        'key',
        createKeyRefusedError(
          upstreamReason('upstream.reason.no_token', { error: error instanceof Error ? error.message : '' }),
        ),
        {},
      );
    }
  }

  #noteAnswer({ digests, answeredModel }: ReplyReader): void {
    const { exchange, delivery, adapter } = this.#context;
    if (digests !== undefined) exchange.set(answerDigests, digests);
    const isOther = answeredModel !== undefined && !isSameModel(this.route, answeredModel);
    // The reader fills in the client's model name if an answer has none.
    const isRepaired = isOther && answeredModel === adapter.modelName;
    delivery.answeredModel = isRepaired ? undefined : answeredModel;
    if (answeredModel !== undefined) delivery.isOtherModel = isOther && !isRepaired;
  }

  #reportBreak(fault: Fault): void {
    const { parts, exchange, isResumable } = this.#context;
    const effect = isResumable ? 'inside an answer that another route may continue' : 'ending an answer with an error';
    parts.failures.report(parts.log, this.route.id, fault, effect, exchange.id);
  }
}

/**
 * Address, key, body and limits of the request to a route.
 *
 * @param startedAt start of the attempt, ms since the exchange began
 */
function requestTo(
  { parts, exchange, adapter, allowance, candidates, isResumable }: RelayContext,
  route: Route,
  key: string,
  { path, headers, body }: UpstreamRequest,
  startedAt: number,
) {
  const { options, connections, now } = parts;
  const firstByteTimeout = route.firstByteTimeout ?? options.firstByteTimeout;
  const hasBackup = allowance.hasAttempts && candidates.hasHealthy;
  const time = hasBackup ? allowance.timeLeftBefore(firstByteTimeout) : allowance.timeLeft;
  const deadline = Math.max(0.001, time);
  const { origin, path: base, serverName } = targetOf(route);
  return {
    agent: connections.pool(origin, route.connectTimeout ?? options.connectTimeout, serverName),
    origin,
    path: base + path,
    headers: {
      ...route.upstream.headers,
      ...headers,
      ...authHeaders(route.upstream.auth, key),
      ...(route.upstream.continuesTraces === true &&
        outgoingTrace(exchange, parts.traceSample ?? 0, attemptSpanId(exchange, route.id, startedAt))),
    },
    body,
    isStream: adapter.isStream,
    isResumable,
    limits: {
      firstByteTimeout: Math.min(firstByteTimeout, deadline),
      idleTimeout: route.idleTimeout ?? options.idleTimeout,
      progressTimeout: options.progressTimeout,
      deadline,
    },
    memory: exchange.memory,
    now,
    vendor: route.upstream.vendor,
    secrets: () => [...secretsOf(route.upstream), ...(route.upstream.credentials === undefined ? [] : [key])],
    redact: (fault) => withModelName(fault, route.model, adapter.modelName),
  } satisfies Partial<AttemptRequest>;
}
