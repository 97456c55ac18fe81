import type { Delivery } from '#core/gateway/facts.ts';

/** The part of an exchange that the overhead is computed from. Times are ms since the request arrived. */
interface TimedExchange {
  readonly firstByteAfter: number | undefined;
  readonly delivery: Pick<Delivery, 'attempts' | 'firstContentAfter' | 'queuedFor'> | undefined;
  /** Ms spent waiting for the client's body. */
  readonly bodyWait: number | undefined;
  /** Ms spent waiting for a slot of the key. */
  readonly slotWaited: number | undefined;
}

/**
 * Returns the gateway's own ms until the first byte of the reply: excludes waiting for the body, waiting for slots of the key and of
 * upstreams, and attempts, whose time goes into connections and answers of upstreams. Overlapping attempts are subtracted once.
 *
 * @returns undefined if no byte was sent
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
  // Attempts are in the order of their starts.
  for (const { startedAt, duration } of delivery?.attempts ?? []) {
    const end = Math.min(startedAt + duration, until);
    waited += Math.max(0, end - Math.max(startedAt, reached));
    reached = Math.max(reached, end);
  }
  return Math.max(0, firstByteAfter - waited);
}
