import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Finding } from '#core/gateway/diagnosis/diagnosis.ts';
import { parseObject } from '#core/platform/json.ts';
import { describeUnexpected, type PublicAnswer, type PublicCaller } from '../caller.ts';
import { type Departure, publicPaths } from '../paths.ts';

/** Ms between two looks. */
const lookEvery = 250;
/** Ms for the call to arrive, and for the gateway to notice that its client has left: two keep-alives and some time. */
const waits = { arrival: 15_000, departure: 18_000 };
/** Ms within which a departure counts as noticed at once, the way of the look included. */
const atOnce = 2_500;
const advice =
  'Let the proxy pass on that a client has left, because the vendor charges for the rest of the response: `option abortonclose` in the defaults of HAProxy, no `flush_interval -1` in Caddy. Apache cannot.';

/** Whether the gateway notices that a client leaves in the middle of a call. */
export async function checkDeparture(caller: PublicCaller, isStream: boolean, signal: AbortSignal): Promise<Finding> {
  const id = randomUUID();
  const leaving = new AbortController();
  const path = isStream ? publicPaths.leaveSilence : publicPaths.leaveWait;
  caller.open(path, { query: { id }, signal: AbortSignal.any([leaving.signal, signal]) });
  try {
    const began = await waitFor(caller, id, 'waiting', waits.arrival, signal);
    if (typeof began !== 'number') return began ?? { state: 'failed', text: 'the call does not arrive', advice };
  } finally {
    leaving.abort();
  }
  const after = await waitFor(caller, id, 'left', waits.departure, signal);
  if (typeof after === 'object') return after;
  if (after === undefined) {
    const text = `the gateway does not notice it within ${waits.departure / 1000} s`;
    return { state: isStream ? 'failed' : 'warning', text, advice };
  }
  if (after <= atOnce) return { state: 'ok', text: 'the gateway notices it at once' };
  return {
    state: 'warning',
    text: `the gateway notices it after ${(after / 1000).toFixed(0)} s, by a keep-alive`,
    advice,
  };
}

/** @returns ms until the call is in this state; undefined if it never is; a finding for a response that is no state */
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
    await setTimeout(lookEvery, undefined, { signal });
  }
  return undefined;
}

function stateOf({ status, text }: PublicAnswer): string | undefined {
  const state = status === 200 ? parseObject(text)?.['state'] : undefined;
  return typeof state === 'string' ? state : undefined;
}
