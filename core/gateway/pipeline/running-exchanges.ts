import type { Host, Services } from '../host/host.ts';
import type { Exchange } from './exchange.ts';
import { LinkedList } from './linked-list.ts';

/** Oldest first. */
export function getRunningExchanges({ keep }: Pick<Services, 'keep'>): LinkedList<Exchange> {
  return keep('running-exchanges', () => new LinkedList<Exchange>());
}

export function countLongCalls(host: Pick<Host, 'keep' | 'now'>, ageMs: number): number {
  const isLong = ({ endpoint, receivedAt }: Exchange) => endpoint.isMetered && host.now() - receivedAt > ageMs;
  return getRunningExchanges(host).items().filter(isLong).length;
}
