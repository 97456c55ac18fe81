import type { Delivery } from '#core/gateway/facts.ts';

/** The times of an exchange that determine its overhead, ms since the request arrived. */
interface TimedExchange {
  readonly firstByteAfter: number | undefined;
  readonly delivery: Pick<Delivery, 'attempts' | 'firstContentAfter' | 'queuedFor'> | undefined;
  /** Ms spent waiting for the client's body. */
  readonly bodyWait: number | undefined;
  /** Ms spent waiting for a slot of the key. */
  readonly slotWaited: number | undefined;
}

/**
 * Returns the ms that the gateway itself took until the first byte of the reply. Excludes waiting for the body and for slots of the key
 * and of upstreams, and the time of attempts, which upstreams take. Overlapping attempts are subtracted once.
 *
 * @returns undefined if no byte was sent
 */
export function calculateOverhead({
  firstByteAfter,
  delivery,
  bodyWait = 0,
  slotWaited = 0,
}: TimedExchange): number | undefined {
  if (firstByteAfter === undefined) return undefined;
  const firstContentAt = Math.min(firstByteAfter, delivery?.firstContentAfter ?? Infinity);
  let waitedMs = bodyWait + slotWaited + (delivery?.queuedFor ?? 0);
  let coveredUntil = 0;
  // Attempts are sorted by start.
  for (const { startedAt, duration } of delivery?.attempts ?? []) {
    const end = Math.min(startedAt + duration, firstContentAt);
    waitedMs += Math.max(0, end - Math.max(startedAt, coveredUntil));
    coveredUntil = Math.max(coveredUntil, end);
  }
  return Math.max(0, firstByteAfter - waitedMs);
}
