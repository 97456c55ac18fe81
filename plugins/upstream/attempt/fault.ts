import { ClientGone, type ErrorMeaning, GatewayError } from '#core/errors/table.ts';
import type { FaultKind } from '#core/facts.ts';
import { keyRefused, withoutOwn } from '#core/model-call/upstream-error.ts';
import { brokenConnection, isStale } from './connector.ts';

export interface FaultEffects {
  /** `refuse`: left alone for a minute and longer each time; `rest`: for as long as the upstream said. */
  readonly key: 'refuse' | 'cooldown' | 'none';
  /**
   * `fail` counts against the route; `last`: it is asked after the others for a minute and longer each time; `release`:
   * says nothing about the route. After the last two a probe may be tried again.
   */
  readonly breaker: 'fail' | 'last' | 'release';
  /** What is tried next: another key of the same route, another route, one with a larger window only, or nothing. */
  readonly next: 'key' | 'route' | 'wider' | 'stop';
}

/** The one table of what a fault does. What is recorded is the same for all: kind, status and words. */
export const faultEffects: Readonly<Record<FaultKind, FaultEffects>> = {
  client: { key: 'none', breaker: 'release', next: 'stop' },
  overflow: { key: 'none', breaker: 'release', next: 'wider' },
  key: { key: 'refuse', breaker: 'release', next: 'key' },
  throttled: { key: 'cooldown', breaker: 'release', next: 'key' },
  route: { key: 'none', breaker: 'fail', next: 'route' },
  no_model: { key: 'none', breaker: 'last', next: 'route' },
  gone: { key: 'none', breaker: 'release', next: 'stop' },
};

export interface FaultDetails {
  /** What the upstream answered, when it did. */
  readonly status?: number | undefined;
  /** True when nothing came back on a connection that had been used before: it was closed there meanwhile. */
  readonly isStaleConnection?: boolean;
  /** True when the request itself may have caused it: one that makes an upstream fail does so each time. */
  readonly mayBeCausedByRequest?: boolean;
}

export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  /** What the client is told when this was the last attempt. */
  readonly error: GatewayError;
  readonly status: number | undefined;
  readonly isStaleConnection: boolean;
  readonly mayBeCausedByRequest: boolean;

  constructor(
    kind: FaultKind,
    error: GatewayError,
    { status, isStaleConnection = false, mayBeCausedByRequest = false }: FaultDetails = {},
  ) {
    super(error.message, { cause: error });
    this.kind = kind;
    this.error = error;
    this.status = status;
    this.isStaleConnection = isStaleConnection;
    this.mayBeCausedByRequest = mayBeCausedByRequest;
  }
}

/** Codes of undici and of the system that mean that a wait of ours was over. */
const timeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
/** Codes of a connection that was open and is not any more. */
const closed = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Translates what undici throws. No address and no vendor text reaches the client. */
export function connectionFault(thrown: unknown, hasAnswered: boolean): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = errorCode(thrown);
  if (timeouts.has(code)) return routeFault('upstream_timeout', 'the upstream did not answer in time', thrown);
  if (hasAnswered) return brokenOff('upstream_failed', 'the connection to the upstream failed', thrown);
  const error = new GatewayError('upstream_failed', 'the connection to the upstream failed', { cause: thrown });
  const connection = closed.has(code) ? brokenConnection(thrown) : undefined;
  return new Fault('route', error, {
    isStaleConnection: connection !== undefined && isStale(connection),
    // The request had gone out.
    mayBeCausedByRequest: connection !== undefined,
  });
}

/** For failures after the request was taken: some requests make an upstream crash, or think without end. */
export function brokenOff(code: 'upstream_failed' | 'upstream_timeout', message: string, cause?: unknown): Fault {
  return new Fault('route', new GatewayError(code, message, { cause }), { mayBeCausedByRequest: true });
}

export function routeFault(code: 'upstream_failed' | 'upstream_timeout', message: string, cause?: unknown): Fault {
  return new Fault('route', new GatewayError(code, message, { cause }));
}

/** The fault that ends an attempt because its exchange is over. */
export function goneFault(reason: unknown): Fault {
  const error =
    reason instanceof GatewayError
      ? reason
      : new GatewayError('internal_error', new ClientGone().message, { cause: reason });
  return new Fault('gone', error);
}

/** The fault of an attempt that another has overtaken. */
export function lostFault(): Fault {
  return new Fault('gone', new GatewayError('internal_error', 'another route was faster'));
}

/** For the record: never shown to clients. */
export function describeFault({ kind, error, status }: Fault): string {
  const { cause } = error;
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  return `${kind}: ${status === undefined ? '' : `${status} `}${error.message}${reason}`.slice(0, 500);
}

const kinds: Readonly<Record<ErrorMeaning, FaultKind>> = {
  overflow: 'overflow',
  key: 'key',
  capacity: 'route',
  throttled: 'throttled',
  timeout: 'route',
  model: 'no_model',
};

/** Whose fault it is, by what the upstream's words mean. */
export function kindOf(meaning: ErrorMeaning): FaultKind {
  return kinds[meaning];
}

/**
 * An error that came inside of an answer, or instead of one, with a status that said that all was well.
 *
 * @param secrets of the upstream, which the client is not shown
 */
export function answerFault(error: GatewayError, status: number, secrets: readonly string[] = []): Fault {
  const { meaning } = error.details;
  const kind = meaning === undefined ? 'route' : kindOf(meaning);
  return new Fault(kind, shownError(error, secrets), { status, mayBeCausedByRequest: true });
}

/** The same error without the upstream's secrets. */
function shownError(error: GatewayError, secrets: readonly string[]): GatewayError {
  if (error.details.meaning === 'key') return keyRefused(withoutOwn(wordsOf(error), secrets));
  const message = withoutOwn(error.message, secrets);
  return message === error.message ? error : new GatewayError(error.code, message, error.details);
}

/** What an upstream has said of a key that it did not accept, on one line: for the log only. */
export function refusalOfKey({ error, status }: Fault): string {
  return `${status ?? ''} ${wordsOf(error)}`.replace(/\s+/g, ' ').trim();
}

function wordsOf({ cause }: GatewayError): string {
  return cause instanceof Error ? cause.message : '';
}

/**
 * What the client is told when no route served.
 *
 * @param wait ms until a route that was left out may be tried again; undefined when none was
 */
export function summarize(faults: readonly Fault[], wait: number | undefined): GatewayError {
  const last = faults.at(-1);
  if (last === undefined) {
    return new GatewayError('unavailable', 'no route of this model is in service', {
      retryAfter: wait === undefined ? 30 : Math.max(1, wait / 1000),
    });
  }
  // Whatever the wider routes had: a shorter request would have been served, and its client can make it one.
  const overflow = faults.find(({ kind }) => kind === 'overflow');
  if (overflow !== undefined) return overflow.error;
  const throttled = faults.filter(({ kind }) => kind === 'throttled');
  if (throttled.length === faults.length) {
    return throttled.reduce((first, fault) => (waitOf(fault) < waitOf(first) ? fault : first)).error;
  }
  return (faults.findLast(({ kind }) => kind === 'route') ?? last).error;
}

function waitOf({ error }: Fault): number {
  return error.details.retryAfter ?? 0;
}

function errorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}
