import type { Delivery } from '#core/gateway/facts.ts';

/** The part of an exchange that the overhead is computed from. Times are ms since the request arrived. */
interface TimedExchange {
  readonly firstByteAfter: number | undefined;
  readonly delivery: Pick<Delivery, 'attempts' | 'firstContentAfter' | 'queuedFor'> | undefined;
  /** Ms for which the client was waited for while its body arrived. */
  readonly bodyWait: number | undefined;
  /** Ms for which it has waited for a slot of its key. */
  readonly slotWaited: number | undefined;
}

/**
 * Ms until the first byte of the reply that the gateway took for itself: without the time in which the body arrived, and
 * without that of attempts, which is spent on connections and answers of upstreams, and without that spent waiting for slots of
 * its key and of upstreams. Attempts that overlap count once.
 *
 * @returns undefined when no byte was sent
 */
export function overheadOf({
  firstByteAfter,
  delivery,
  bodyWait = 0,
  slotWaited = 0,
}: TimedExchange): number | undefined {
  if (firstByteAfter === undefined) return undefined;
  const until = Math.min(firstByteAfter, delivery?.firstContentAfter ?? Infinity);
  let waited = bodyWait + slotWaited + (delivery?.queuedFor ?? 0);
  let reached = 0;
  // In the order in which they started.
  for (const { startedAt, duration } of delivery?.attempts ?? []) {
    const end = Math.min(startedAt + duration, until);
    waited += Math.max(0, end - Math.max(startedAt, reached));
    reached = Math.max(reached, end);
  }
  return Math.max(0, firstByteAfter - waited);
}
