import type { Limits, Take } from '#core/platform/shared/shared.ts';

/** The message of a refused request. @param isModelCall false for a request of the other allowance */
export function explainRefusal({ refusedBy, retryAfter }: Take, limits: Limits, isModelCall: boolean): string {
  const { limit, period, burst, concurrent = Infinity } = limits;
  if (refusedBy === 'concurrency')
    return `Concurrency limit reached: ${count(concurrent, 'request')} in flight. Wait for one to finish.`;
  const rate = `${count(limit, 'request')} per ${count(period, 'second')}, at most ${burst} at once`;
  const scope = isModelCall ? '' : ' for requests other than model calls';
  return `Rate limit${scope} reached: ${rate}. Try again in ${count(Math.ceil(retryAfter), 'second')}.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
