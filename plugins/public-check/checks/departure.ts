import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { parseObject } from '#core/platform/json.ts';
import { describeUnexpected, type PublicAnswer, type PublicCaller } from '../caller.ts';
import { type Departure, publicPaths } from '../paths.ts';

const pollIntervalMs = 250;
/** Maximum waits for the call to arrive, and for the gateway to notice the departure (two keep-alives and some slack). */
const waitsMs = { arrival: 15_000, departure: 18_000 };
/** Maximum time, with the poll's round trip, for a departure to count as noticed at once. */
const immediateMs = 2_500;
const advice =
  'Let the proxy pass on that a client has left, because the vendor charges for the rest of the response: `option abortonclose` in the defaults of HAProxy, no `flush_interval -1` in Caddy. Apache cannot.';

/** Checks that the gateway notices when a client disconnects during a call. */
export async function checkDeparture(caller: PublicCaller, isStream: boolean, signal: AbortSignal): Promise<Finding> {
  const id = randomUUID();
  const leaving = new AbortController();
  const path = isStream ? publicPaths.leaveSilence : publicPaths.leaveWait;
  caller.open(path, { query: { id }, signal: AbortSignal.any([leaving.signal, signal]) });
  try {
    const began = await waitFor(caller, id, 'waiting', waitsMs.arrival, signal);
    if (typeof began !== 'number') return began ?? failed('the call does not arrive', advice);
  } finally {
    leaving.abort();
  }
  const after = await waitFor(caller, id, 'left', waitsMs.departure, signal);
  if (typeof after === 'object') return after;
  if (after === undefined) {
    const text = `the gateway does not notice it within ${waitsMs.departure / 1000} s`;
    return { state: isStream ? 'failed' : 'warning', text, advice };
  }
  if (after <= immediateMs) return ok('the gateway notices it at once');
  return warning(`the gateway notices it after ${(after / 1000).toFixed(0)} s, by a keep-alive`, advice);
}

/** Waits for a state of the call. @returns the wait in ms; undefined after the timeout; a finding if a response is invalid */
async function waitFor(
  caller: PublicCaller,
  id: string,
  wanted: Departure['state'],
  within: number,
  signal: AbortSignal,
): Promise<number | Finding | undefined> {
  const began = performance.now();
  while (performance.now() - began < within) {
    const answer = await caller.call(publicPaths.left, { query: { id }, signal });
    const state = stateOf(answer);
    if (state === undefined) return describeUnexpected(answer, advice);
    if (state === wanted) return performance.now() - began;
    await setTimeout(pollIntervalMs, undefined, { signal });
  }
  return undefined;
}

function stateOf({ status, text }: PublicAnswer): string | undefined {
  const state = status === 200 ? parseObject(text)?.['state'] : undefined;
  return typeof state === 'string' ? state : undefined;
}
