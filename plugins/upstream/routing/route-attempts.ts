import type { Route } from '#core/config/catalog/catalog.ts';
import { limitOutput, withoutReasoning } from '#core/config/catalog/profile.ts';
import { answerDigests } from '#core/gateway/facts.ts';
import type { ReplyReader, RouteCalls, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { createAuthHeaders, listSecrets } from '#core/gateway/model-call/upstream-credentials.ts';
import { createKeyRefusedError } from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { refusesReasoning } from '#core/gateway/model-call/upstream-words.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { createAttemptSpanId, createTraceHeaders } from '#core/gateway/trace-context.ts';
import { runInBackground, noteFailure } from '#core/platform/background.ts';
import { Attempt } from '../attempt/attempt.ts';
import type { AttemptRequest } from '../attempt/contract.ts';
import { Fault, faultEffects, createGoneFault, createHedgeLostFault, renameModel } from '../attempt/fault.ts';
import { getTarget } from '../connections/connections.ts';
import { type AdmittedRoute, findThrottling } from './admission.ts';
import { AttemptReport } from './attempt-report.ts';
import type { RelayContext } from './relay-context.ts';
import { isSameModel } from './same-model.ts';

/** Reply of one route, or its continuation of an interrupted reply. */
export interface RouteReply {
  reply: Reply;
  readonly reader: ReplyReader;
  /** Fault that truncated the reply; set when the reply ends. */
  readonly outcome: { fault: Fault | undefined };
}

interface PreparedAttempt {
  readonly key: string;
  readonly credential: string; // the key or, with cloud credentials, a token
  readonly request: UpstreamRequest;
  readonly reader: ReplyReader;
  readonly report: AttemptReport;
  readonly outcome: RouteReply['outcome'];
}

/** Attempts on one route. While the key is at fault, each attempt uses another key. */
export class RouteAttempts {
  readonly route: Route;
  /** Number of attempts that the request made before this route. */
  readonly attemptsBefore: number;
  readonly #context: RelayContext;
  readonly #admitted: AdmittedRoute;
  readonly #calls: RouteCalls;
  /** The route for which requests are encoded. If the upstream has asked for it, it has a lower output limit or no reasoning. */
  #encodedRoute: Route;
  #attempt: Attempt | undefined;
  #isTokenReused = false; // earlier requests used the token of the last attempt; false for keys
  #isStopped = false;

  constructor(context: RelayContext, admitted: AdmittedRoute, calls: RouteCalls) {
    this.route = admitted.route;
    this.#encodedRoute = admitted.route;
    this.attemptsBefore = context.allowance.attempts;
    this.#context = context;
    this.#admitted = admitted;
    this.#calls = calls;
  }

  async run(): Promise<RouteReply | Fault> {
    let isHandedOver = false;
    try {
      const result = await this.#tryKeys();
      isHandedOver = !(result instanceof Fault);
      return result;
    } finally {
      // If a reply was handed over, its slot is released when it ends.
      if (!isHandedOver) this.#releaseSlot(false);
    }
  }

  #releaseSlot(isServed: boolean): void {
    const { slot } = this.#admitted;
    if (slot !== undefined) runInBackground(this.#context.parts.log, 'freeing a slot', () => slot.release(isServed));
  }

  async #tryKeys(): Promise<RouteReply | Fault> {
    const { parts } = this.#context;
    for (;;) {
      let result = await this.#tryOnLiveConnection();
      if (result instanceof Fault && this.#adaptToRefusal(result)) result = await this.#tryOnLiveConnection();
      if (!(result instanceof Fault) || faultEffects[result.kind].next !== 'key') return result;
      // A token that earlier requests used may have been revoked, or may have expired while the machine was suspended. The next attempt
      // gets a new one.
      const hasNewToken = this.#isTokenReused && result.kind === 'key';
      const isReady = hasNewToken || this.#admitted.keys.isReady(parts.monotonic(), this.route.model);
      // If all keys are throttled, the fault says how long until the first one is available.
      if (!isReady || !this.#takeRetry()) return findThrottling(parts, this.route, result) ?? result;
    }
  }

  stop(fault: Fault): void {
    this.#isStopped = true;
    this.#attempt?.end(fault);
  }

  #takeRetry(): boolean {
    const { allowance, candidates } = this.#context;
    if (this.#isStopped || !allowance.hasAttempts) return false;
    // The last attempt is kept for another route, if there is one.
    return !(allowance.isLastAttempt && !candidates.isEmpty) && allowance.takeAttempt();
  }

  /**
   * Lowers the output token limit to the maximum that the upstream gave when it rejected the request. Omits reasoning if the model lacks
   * it, unless another route that may support it remains. The route is then tried once more without charging the retry budget: it did not
   * fail, and no other route is more likely to serve. Returns false if the route must not be tried again.
   */
  #adaptToRefusal(fault: Fault): boolean {
    const { allowance, candidates } = this.#context;
    const isAdapted = this.#encodedRoute !== this.route;
    if (isAdapted || this.#isStopped || !allowance.hasAttempts) return false;
    const { profile } = this.route;
    const { outputLimit: limit } = fault.error.details;
    if (limit !== undefined) this.#encodedRoute = { ...this.route, profile: limitOutput(profile, limit) };
    else if (fault.kind === 'unsupported' && candidates.isEmpty && refusesReasoning(fault.error.message))
      this.#encodedRoute = { ...this.route, profile: withoutReasoning(profile) };
    return this.#encodedRoute !== this.route;
  }

  /**
   * Tries the route. If the connection had been closed while idle, the route is not at fault and the request is repeated within the same
   * attempt. After a timeout on a reused connection, the route is tried once more on a new one, if no other route is left.
   */
  async #tryOnLiveConnection(): Promise<RouteReply | Fault> {
    this.#context.allowance.countAttempt();
    const result = await this.#tryOnce();
    if (!(result instanceof Fault) || this.#isStopped) return result;
    if (result.isStaleConnection) return this.#tryOnce();
    if (!result.isSilentConnection || !this.#context.candidates.isEmpty || !this.#takeRetry()) return result;
    this.#context.allowance.countAttempt();
    return this.#tryOnce();
  }

  async #tryOnce(): Promise<RouteReply | Fault> {
    const { parts, exchange, adapter, requester, lease, notes } = this.#context;
    const { route, keys } = this.#admitted;
    const { session, place } = lease ?? {};
    const preferredKey = place?.routeId === route.id ? place.key : undefined;
    const key = keys.pickKey(parts.monotonic(), route.model, session, preferredKey);
    const request = this.#calls.encode(this.#encodedRoute);
    const reader = this.#calls.read(this.#encodedRoute);
    const report = new AttemptReport(parts, exchange, this.#admitted, { key, format: request.format, requester });
    const credential = route.upstream.credentials === undefined ? key : await this.#readToken();
    if (credential instanceof Fault) {
      report.end(credential, undefined, undefined);
      return credential;
    }
    const outcome: RouteReply['outcome'] = { fault: undefined };
    const { attempt, finish } = this.#createAttempt({ key, credential, request, reader, report, outcome });
    this.#attempt = attempt;
    if (exchange.abortReason !== undefined) attempt.end(createGoneFault(exchange.abortReason));
    try {
      const reply = await attempt.run();
      if (this.#isStopped) return createHedgeLostFault();
      const droppedParts = [...(request.notes ?? []), ...(reader.notes ?? [])];
      if (this.#calls === adapter) return { reply: notes.addToReply(reply, droppedParts), reader, outcome };
      notes.addContinuation(droppedParts);
      return { reply, reader, outcome };
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      finish(thrown);
      return thrown;
    }
  }

  #createAttempt({ key, credential, request, reader, report, outcome }: PreparedAttempt) {
    const { parts, exchange, adapter, lease, hedgeTimer } = this.#context;
    const { route, keys, slot } = this.#admitted;
    // Created before `enter`, because an error would leave the attempt in the queue.
    const attemptParts = createRequest(this.#context, route, credential, request, report.startedAt);
    const connectingAttempt = parts.connections.getQueue(getTarget(route).origin).enter();
    hedgeTimer.noteConnecting(connectingAttempt);
    const finish = (fault: Fault | undefined) => {
      connectingAttempt.leave();
      this.#attempt = undefined;
      if (fault?.kind === 'key' && credential !== key) parts.getTokenSource?.(route).discard(credential);
      if (fault?.isSilentConnection === true) parts.connections.replace(attemptParts.agent);
      // The usage of a continuation includes earlier tokens, and a slow client delays any route.
      const isMeasured = this.#calls === adapter && !attempt.clock.wasDelayedByClient;
      const tokens = isMeasured ? reader.usage?.output : undefined;
      slot?.noteLimits(fault, attempt.headers, keys.size);
      parts.limitSamples?.observe(route.upstream, attempt.headers);
      report.end(fault, attempt.status || undefined, attempt.clock.wasProcessStalled ? undefined : { tokens });
    };
    const attempt = new Attempt(
      {
        ...attemptParts,
        onConnected: () => connectingAttempt.leave(),
        onContent: () => {
          report.noteContent();
          lease?.recordPlace(route, key, reader);
        },
        onEnd: (fault) => {
          this.#recordReply(reader);
          outcome.fault = fault;
          lease?.release();
          finish(fault);
          if (fault !== undefined) this.#logInterruption(fault);
          this.#releaseSlot(fault === undefined);
        },
        onFailure: (error) => noteFailure(parts.log, "reading an upstream's response", error, exchange.id),
        createReader: () => this.#calls.read(this.#encodedRoute),
      },
      reader,
    );
    return { attempt, finish };
  }

  async #readToken(): Promise<string | Fault> {
    const { parts } = this.#context;
    try {
      const token = parts.getTokenSource?.(this.route).get();
      this.#isTokenReused = typeof token === 'string';
      const value = await token;
      return this.#isStopped ? createHedgeLostFault() : (value ?? '');
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      const reason = upstreamReason('upstream.reason.no_token', { error: message });
      return new Fault('key', createKeyRefusedError(reason), {});
    }
  }

  #recordReply(reader: ReplyReader): void {
    const { exchange, delivery, adapter, notes } = this.#context;
    delivery.usage = reader.usage; // first, so that it is recorded even if computing the digests fails
    notes.add(reader.notes);
    if (reader.isPolicyRefusal === true) delivery.isPolicyRefusal = true;
    const { digests, answeredModel } = reader;
    if (digests !== undefined) exchange.set(answerDigests, digests);
    const isOtherModel = answeredModel !== undefined && !isSameModel(this.route, answeredModel);
    // If a reply has no model name, the reader fills in the client's.
    const isRepaired = isOtherModel && answeredModel === adapter.modelName;
    delivery.answeredModel = isRepaired ? undefined : answeredModel;
    if (answeredModel !== undefined) delivery.isOtherModel = isOtherModel && !isRepaired;
  }

  #logInterruption(fault: Fault): void {
    const { parts, exchange, isResumable } = this.#context;
    const effect = isResumable ? 'inside an answer that another route may continue' : 'ending an answer with an error';
    parts.failureLog.logFailure(parts.log, this.route.id, fault, effect, exchange.id);
  }
}

/** @param startedAt ms after the start of the exchange */
function createRequest(
  { parts, exchange, adapter, allowance, candidates, isResumable }: RelayContext,
  route: Route,
  key: string,
  { path, headers, body }: UpstreamRequest,
  startedAt: number,
) {
  const { options, connections, now } = parts;
  const firstByteTimeout = route.firstByteTimeout ?? options.firstByteTimeout;
  const hasBackup = allowance.hasAttempts && candidates.hasHealthy;
  const attemptSeconds = hasBackup ? allowance.computeSecondsWithReserve(firstByteTimeout) : allowance.remainingSeconds;
  const deadline = Math.max(0.001, attemptSeconds);
  const { origin, path: basePath, serverName } = getTarget(route);
  return {
    agent: connections.getPool(origin, route.connectTimeout ?? options.connectTimeout, serverName),
    origin,
    path: basePath + path,
    headers: {
      ...route.upstream.headers,
      ...headers,
      ...createAuthHeaders(route.upstream.auth, key),
      ...(route.upstream.continuesTraces === true &&
        createTraceHeaders(exchange, parts.traceSample ?? 0, createAttemptSpanId(exchange, route.id, startedAt))),
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
    secrets: () => [...listSecrets(route.upstream), ...(route.upstream.credentials === undefined ? [] : [key])],
    redact: (fault) => renameModel(fault, route.model, adapter.modelName),
  } satisfies Partial<AttemptRequest>;
}
