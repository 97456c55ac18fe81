import type { FaultKind } from '#core/gateway/facts.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Fault } from '../attempt/fault.ts';

/** @param waitMs ms until an untried route or key may be used; undefined if there is none */
export function selectFinalError(faults: readonly Fault[], waitMs: number | undefined): GatewayError {
  const unsupported = findUnsupportedError(faults);
  // A route that was skipped because it is down may support the request.
  if (unsupported !== undefined)
    return waitMs !== undefined && waitMs > 0 ? createUnavailableError(waitMs) : unsupported;
  const failures = faults.filter(({ kind }) => !isUnsupported(kind));
  return summarizeFailures(failures, waitMs);
}

function isUnsupported(kind: FaultKind): boolean {
  return kind === 'unsupported' || kind === 'setup';
}

function findUnsupportedError(faults: readonly Fault[]): GatewayError | undefined {
  if (!faults.every(({ kind }) => isUnsupported(kind) || kind === 'no_model')) return undefined;
  // Errors in the request come before errors in the configuration.
  return (faults.find(({ kind }) => kind === 'unsupported') ?? faults.find(({ kind }) => kind === 'setup'))?.error;
}

function summarizeFailures(faults: readonly Fault[], waitMs: number | undefined): GatewayError {
  const last = faults.at(-1);
  if (last === undefined) return createUnavailableError(waitMs);
  // An overflow comes first even if routes with a larger window failed, because a shorter request would have been served.
  const overflowFault = faults.find(({ kind }) => kind === 'overflow');
  if (overflowFault !== undefined) return overflowFault.error;
  // The route is not at fault and may serve the next request.
  const localFault = faults.find(({ kind }) => kind === 'local');
  if (localFault !== undefined) return localFault.error;
  const routeFault = faults.findLast(({ kind }) => kind === 'route');
  if (routeFault !== undefined) return useShortestWait(routeFault.error, faults, waitMs);
  const throttledFaults = faults.filter(({ kind }) => kind === 'throttled');
  const shortestThrottling = throttledFaults.toSorted((a, b) => getWaitSeconds(a) - getWaitSeconds(b))[0];
  if (shortestThrottling !== undefined && throttledFaults.length === faults.length) return shortestThrottling.error;
  const keyFault = faults.find(({ kind }) => kind === 'key');
  if (keyFault === undefined) return last.error;
  // A retry helps if anything but the rejected keys can serve.
  if (shortestThrottling !== undefined) return shortestThrottling.error;
  return waitMs === undefined ? keyFault.error : createUnavailableError(waitMs);
}

function useShortestWait(error: GatewayError, faults: readonly Fault[], waitMs: number | undefined): GatewayError {
  const { code, message, details } = error;
  if (details.retryAfter === undefined) return error;
  const retryAfters = faults.flatMap((fault) => fault.error.details.retryAfter ?? []);
  const retryAfter = Math.min(...retryAfters, waitMs === undefined ? Infinity : Math.max(1, waitMs / 1000));
  return new GatewayError(code, message, { ...details, retryAfter });
}

function createUnavailableError(waitMs: number | undefined): GatewayError {
  return new GatewayError(
    'unavailable',
    'The model is unavailable: none of its routes is in service. Try again later.',
    { retryAfter: waitMs === undefined ? 30 : Math.max(1, waitMs / 1000) },
  );
}

export function getWaitSeconds({ error }: Fault): number {
  return error.details.retryAfter ?? 0;
}
