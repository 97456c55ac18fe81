import type { FaultKind } from '#core/gateway/facts.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Fault } from '../attempt/fault.ts';

/**
 * Returns the client's error if no route served.
 *
 * @param wait ms until an untried route or key may be used; undefined if there is none
 */
export function summarize(faults: readonly Fault[], wait: number | undefined): GatewayError {
  const unsupported = unsupportedBy(faults);
  // A route that was skipped because it is down may support the request.
  if (unsupported !== undefined) return wait !== undefined && wait > 0 ? unavailable(wait) : unsupported;
  return summarizeFailures(
    faults.filter(({ kind }) => !isUnsupported(kind)),
    wait,
  );
}

function isUnsupported(kind: FaultKind): boolean {
  return kind === 'unsupported' || kind === 'setup';
}

/** The error if none of the tried routes can ever serve the request. Errors about the request take precedence over the operator's. */
function unsupportedBy(faults: readonly Fault[]): GatewayError | undefined {
  if (!faults.every(({ kind }) => isUnsupported(kind) || kind === 'no_model')) return undefined;
  return (faults.find(({ kind }) => kind === 'unsupported') ?? faults.find(({ kind }) => kind === 'setup'))?.error;
}

function summarizeFailures(faults: readonly Fault[], wait: number | undefined): GatewayError {
  const last = faults.at(-1);
  if (last === undefined) return unavailable(wait);
  // Takes precedence even if wider routes failed: a shorter request would have been served, and the client can send one.
  const overflow = faults.find(({ kind }) => kind === 'overflow');
  if (overflow !== undefined) return overflow.error;
  // The route is not at fault, and may serve the next request.
  const local = faults.find(({ kind }) => kind === 'local');
  if (local !== undefined) return local.error;
  const failed = faults.findLast(({ kind }) => kind === 'route');
  if (failed !== undefined) return withShortestWait(failed.error, faults, wait);
  const limited = faults.filter(({ kind }) => kind === 'throttled');
  const first = limited.toSorted((a, b) => waitOf(a) - waitOf(b))[0];
  if (first !== undefined && limited.length === faults.length) return first.error;
  const refused = faults.find(({ kind }) => kind === 'key');
  if (refused === undefined) return last.error;
  // A retry helps as long as anything other than the rejected keys can serve.
  if (first !== undefined) return first.error;
  return wait === undefined ? refused.error : unavailable(wait);
}

/** The error with the shortest wait of any route, if its own route asked for a wait. */
function withShortestWait(error: GatewayError, faults: readonly Fault[], wait: number | undefined): GatewayError {
  const { code, message, details } = error;
  if (details.retryAfter === undefined) return error;
  const others = faults.flatMap((fault) => fault.error.details.retryAfter ?? []);
  const retryAfter = Math.min(...others, wait === undefined ? Infinity : Math.max(1, wait / 1000));
  return new GatewayError(code, message, { ...details, retryAfter });
}

function unavailable(wait: number | undefined): GatewayError {
  return new GatewayError(
    'unavailable',
    'The model is unavailable: none of its routes is in service. Try again later.',
    {
      retryAfter: wait === undefined ? 30 : Math.max(1, wait / 1000),
    },
  );
}

/** Returns the seconds until the route may serve, as reported by its fault. */
export function waitOf({ error }: Fault): number {
  return error.details.retryAfter ?? 0;
}
