import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { parseObject } from '#core/platform/json.ts';
import { describeUnexpectedResponse, type PublicResponse, type PublicCaller } from '../caller.ts';
import { type Departure, publicPaths } from '../paths.ts';

const pollIntervalMs = 250;
const maxWaitsMs = { arrival: 15_000, departure: 18_000 }; // departure: two keep-alives and some slack
const maxImmediateMs = 2_500; // includes the poll's round trip
const abortAdvice =
  'Make the proxy forward client disconnects; otherwise the vendor charges for the rest of the response: `option abortonclose` in the defaults of HAProxy, no `flush_interval -1` in Caddy. Apache cannot do this.';

export async function checkDeparture(caller: PublicCaller, isStream: boolean, signal: AbortSignal): Promise<Finding> {
  const id = randomUUID();
  const departure = new AbortController();
  const path = isStream ? publicPaths.leaveSilence : publicPaths.leaveWait;
  caller.open(path, { query: { id }, signal: AbortSignal.any([departure.signal, signal]) });
  try {
    const arrivedAfterMs = await waitForState(caller, id, 'waiting', maxWaitsMs.arrival, signal);
    if (typeof arrivedAfterMs !== 'number')
      return arrivedAfterMs ?? failed('the call does not reach the gateway', abortAdvice);
  } finally {
    departure.abort();
  }
  const leftAfterMs = await waitForState(caller, id, 'left', maxWaitsMs.departure, signal);
  if (typeof leftAfterMs === 'object') return leftAfterMs;
  if (leftAfterMs === undefined) {
    const text = `the gateway does not notice within ${maxWaitsMs.departure / 1000} s`;
    return { state: isStream ? 'failed' : 'warning', text, advice: abortAdvice };
  }
  if (leftAfterMs <= maxImmediateMs) return ok('the gateway notices immediately');
  return warning(`the gateway notices after ${(leftAfterMs / 1000).toFixed(0)} s, through a keep-alive`, abortAdvice);
}

/** @returns the ms waited; undefined after the timeout; a finding if a response is invalid */
async function waitForState(
  caller: PublicCaller,
  id: string,
  expectedState: Departure['state'],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number | Finding | undefined> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < timeoutMs) {
    const response = await caller.call(publicPaths.left, { query: { id }, signal });
    const state = parseState(response);
    if (state === undefined) return describeUnexpectedResponse(response, abortAdvice);
    if (state === expectedState) return performance.now() - startedAt;
    await setTimeout(pollIntervalMs, undefined, { signal });
  }
  return undefined;
}

function parseState({ status, text }: PublicResponse): string | undefined {
  const state = status === 200 ? parseObject(text)?.['state'] : undefined;
  return typeof state === 'string' ? state : undefined;
}
