import type { FaultKind } from '#core/gateway/facts.ts';
import type { ClosureRule } from '#core/gateway/model-call/closure-rules.ts';
import {
  createKeyRefusedError,
  createNotSetUpError,
  createThrottledError,
  removeKnownSecrets,
} from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { ClientGone, type ErrorMeaning, GatewayError } from '#core/platform/errors/table.ts';
import type { MemoryShare } from '#core/platform/memory/budget.ts';
import { getFailedConnection, isUnanswered } from '../connections/connection.ts';

interface FaultEffects {
  /**
   * Effect on the key. `refuse`: it cools down for all models, first for a minute, then longer each time. `cooldown`: it cools down for as
   * long as the upstream asks.
   */
  readonly key: 'refuse' | 'cooldown' | 'none';
  /**
   * Effect on the route. `fail`: the fault counts against it. `last`: it is tried last, first for a minute, then longer each time.
   * `release`: the fault does not count. After `last` and `release`, another request may probe the route.
   */
  readonly breaker: 'fail' | 'last' | 'release';
  /** The next try: another key of the route, another route, only routes with a larger context window, or none. */
  readonly next: 'key' | 'route' | 'wider' | 'stop';
}

/** All faults are recorded with kind, status and message. */
export const faultEffects: Readonly<Record<FaultKind, FaultEffects>> = {
  client: { key: 'none', breaker: 'release', next: 'stop' },
  overflow: { key: 'none', breaker: 'release', next: 'wider' },
  key: { key: 'refuse', breaker: 'release', next: 'key' },
  throttled: { key: 'cooldown', breaker: 'release', next: 'key' },
  route: { key: 'none', breaker: 'fail', next: 'route' },
  no_model: { key: 'none', breaker: 'last', next: 'route' },
  unsupported: { key: 'none', breaker: 'release', next: 'route' },
  setup: { key: 'none', breaker: 'release', next: 'route' },
  memory: { key: 'none', breaker: 'release', next: 'stop' },
  local: { key: 'none', breaker: 'release', next: 'route' },
  gone: { key: 'none', breaker: 'release', next: 'stop' },
};

interface FaultDetails {
  readonly status?: number | undefined;
  readonly isStaleConnection?: boolean; // reused, and already closed by the upstream
  readonly isSilentConnection?: boolean; // reused, and delivered nothing before the timeout; the peer may be gone
  readonly mayBeCausedByRequest?: boolean; // the same request may then fail again
  readonly isUnclear404?: boolean; // mentions no model, so the base URL may be wrong
  readonly closing?: ClosureRule | undefined; // set if the vendor says that it has closed the key or its account
}

/** Why an attempt failed. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  /** The error that the client gets if this was the last attempt. */
  readonly error: GatewayError;
  readonly status: number | undefined;
  readonly isStaleConnection: boolean;
  readonly isSilentConnection: boolean;
  readonly mayBeCausedByRequest: boolean;
  readonly isUnclear404: boolean;
  readonly closing: ClosureRule | undefined;

  constructor(kind: FaultKind, error: GatewayError, details: FaultDetails = {}) {
    super(error.message, { cause: error });
    this.kind = kind;
    this.error = error;
    this.status = details.status;
    this.isStaleConnection = details.isStaleConnection ?? false;
    this.isSilentConnection = details.isSilentConnection ?? false;
    this.mayBeCausedByRequest = details.mayBeCausedByRequest ?? false;
    this.isUnclear404 = details.isUnclear404 ?? false;
    this.closing = details.closing;
  }
}

const timeoutCodes = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']);
const closedCodes = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const localExhaustionCodes = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL']);

/** Translates a connection error. The client sees neither addresses nor vendor text. */
export function createConnectionFault(thrown: unknown, hasResponse: boolean): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = errorCode(thrown);
  if (isLocalExhaustion(thrown)) return createLocalFault(thrown);
  if (isNameError(thrown))
    return createRouteFault('upstream_failed', upstreamReason('upstream.reason.unresolved'), thrown);
  if (timeoutCodes.has(code))
    return createRouteFault('upstream_timeout', upstreamReason('upstream.reason.late'), thrown);
  if (hasResponse)
    return createInterruptedFault('upstream_failed', upstreamReason('upstream.reason.connection'), thrown);
  const error = new GatewayError('upstream_failed', upstreamReason('upstream.reason.connection'), { cause: thrown });
  const brokenSocket = closedCodes.has(code) ? getFailedConnection(thrown) : undefined;
  return new Fault('route', error, {
    isStaleConnection: brokenSocket !== undefined && isUnanswered(brokenSocket),
    mayBeCausedByRequest: brokenSocket !== undefined, // the request had been sent
  });
}

/**
 * Returns true if this machine could not try any address. If it tried at least one, the route is at fault, even on a machine without IPv6.
 */
function isLocalExhaustion(thrown: unknown): boolean {
  const errors = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return errors.length > 0 && errors.every((error) => localExhaustionCodes.has(errorCode(error)));
}

function createLocalFault(cause: unknown): Fault {
  const message = upstreamReason('upstream.reason.sockets');
  return new Fault('local', new GatewayError('unavailable', message, { cause, retryAfter: 1 }));
}

/** For a failure after the request was sent. The request may be the cause: some crash an upstream or make it reason endlessly. */
export function createInterruptedFault(
  code: 'upstream_failed' | 'upstream_timeout',
  message: string,
  cause?: unknown,
): Fault {
  return new Fault('route', new GatewayError(code, message, { cause }), { mayBeCausedByRequest: true });
}

export function createSilentConnectionFault(message: string): Fault {
  const error = new GatewayError('upstream_timeout', message);
  return new Fault('route', error, { mayBeCausedByRequest: true, isSilentConnection: true });
}

/** Creates the fault for a route that failed before the request was sent. */
export function createRouteFault(
  code: 'upstream_failed' | 'upstream_timeout',
  message: string,
  cause?: unknown,
): Fault {
  return new Fault('route', new GatewayError(code, message, { cause }));
}

/** Trying another route would not help, because its response would be as large. */
export function createMemoryFault(memory: MemoryShare): Fault {
  memory.countRefusal('reply');
  const message = upstreamReason('upstream.reason.memory');
  return new Fault('memory', new GatewayError('unavailable', message, { retryAfter: 1 }));
}

export function createGoneFault(reason: unknown): Fault {
  const error =
    reason instanceof GatewayError
      ? reason
      : new GatewayError('internal_error', new ClientGone().message, { cause: reason });
  return new Fault('gone', error);
}

export function createHedgeLostFault(): Fault {
  return new Fault('gone', new GatewayError('internal_error', upstreamReason('upstream.reason.faster')));
}

/** For the log and the operator. Clients must not see it, because it may contain host names and addresses. */
export function describeFault(fault: Fault): string {
  const { kind, error, status } = fault;
  // The client's message is about all routes of the model; the operator needs the upstream's own message.
  if (fault.isUnclear404) return `${kind}: ${upstreamReason('upstream.reason.unclear_404')}`;
  if (kind === 'key' || kind === 'setup') return `${kind}: ${describeRefusal(fault)}`.slice(0, 500);
  const { cause } = error;
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  const message =
    kind === 'throttled'
      ? upstreamReason('upstream.reason.retry_after', { seconds: Math.ceil(error.details.retryAfter ?? 0) })
      : error.message;
  const includesStatus = status === undefined || message.includes(`status ${status}`);
  return `${kind}: ${includesStatus ? '' : `${status} `}${message}${reason}`.slice(0, 500);
}

const kindByMeaning: Readonly<Record<ErrorMeaning, FaultKind>> = {
  overflow: 'overflow',
  key: 'key',
  capacity: 'route',
  throttled: 'throttled',
  timeout: 'route',
  model: 'no_model',
  limit: 'unsupported',
  unsupported: 'unsupported',
  setup: 'setup',
  rejected: 'client',
};

export function faultKindOf(meaning: ErrorMeaning): FaultKind {
  return kindByMeaning[meaning];
}

/** For an error inside a 2xx response or in place of its content. */
export function createResponseFault(error: GatewayError, status: number, secrets: readonly string[] = []): Fault {
  const { meaning } = error.details;
  const kind = meaning === undefined ? 'route' : faultKindOf(meaning);
  return new Fault(kind, redactError(error, secrets), { status, mayBeCausedByRequest: true });
}

function redactError(error: GatewayError, secrets: readonly string[]): GatewayError {
  const { meaning, retryAfter } = error.details;
  if (meaning === 'key') return createKeyRefusedError(removeKnownSecrets(upstreamMessage(error), secrets));
  if (meaning === 'throttled')
    return createThrottledError(retryAfter, removeKnownSecrets(upstreamMessage(error), secrets));
  if (meaning === 'setup') return createNotSetUpError(removeKnownSecrets(upstreamMessage(error), secrets));
  const message = removeKnownSecrets(error.message, secrets);
  return message === error.message ? error : new GatewayError(error.code, message, error.details);
}

const distinctiveCharacter = /[\d/:.-]/;

/** Replaces the upstream's model name, with or without a date, with the name that the client used. */
export function renameModel(fault: Fault, upstreamName: string, clientName: string): Fault {
  const { error, kind } = fault;
  if (!error.message.includes(upstreamName) || !distinctiveCharacter.test(upstreamName)) return fault;
  const namePattern = new RegExp(`(?<![\\w/:.-])${RegExp.escape(upstreamName)}(-\\d[\\d-]*)?(?![\\w/:-]|\\.\\w)`, 'g');
  const message = error.message.replace(namePattern, () => clientName);
  const renamedError = new GatewayError(error.code, message, error.details);
  return new Fault(kind, renamedError, fault);
}

/** On one line, for the log and the record. Clients never see it. */
export function describeRefusal({ error, status }: Fault): string {
  return `${status ?? ''} ${upstreamMessage(error)}`.replace(/\s+/g, ' ').trim();
}

function upstreamMessage({ cause }: GatewayError): string {
  return cause instanceof Error ? cause.message : '';
}

function isNameError(thrown: unknown): boolean {
  return thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'getaddrinfo';
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
