import type { Delivery } from '#core/gateway/facts.ts';

interface TimedExchange {
  readonly firstByteAfter: number | undefined;
  readonly delivery: Pick<Delivery, 'attempts' | 'firstContentAfter' | 'queuedFor'> | undefined;
  readonly bodyWaited: number | undefined; // ms spent waiting for the client's body
  readonly slotWaited: number | undefined; // ms spent waiting for a free slot of the key
}

/**
 * Returns the ms that the gateway itself took until the first byte of the reply. Excludes attempts, which are the upstreams' time, and
 * waiting for the body and for free slots of the key and of an upstream. Overlapping attempts are subtracted only once.
 */
export function calculateOverhead({
  firstByteAfter,
  delivery,
  bodyWaited = 0,
  slotWaited = 0,
}: TimedExchange): number | undefined {
  if (firstByteAfter === undefined) return undefined;
  const firstContentAt = Math.min(firstByteAfter, delivery?.firstContentAfter ?? Infinity);
  let waitedMs = bodyWaited + slotWaited + (delivery?.queuedFor ?? 0);
  let coveredUntil = 0;
  // Attempts are sorted by start.
  for (const { startedAt, duration } of delivery?.attempts ?? []) {
    const end = Math.min(startedAt + duration, firstContentAt);
    waitedMs += Math.max(0, end - Math.max(startedAt, coveredUntil));
    coveredUntil = Math.max(coveredUntil, end);
  }
  return Math.max(0, firstByteAfter - waitedMs);
}
