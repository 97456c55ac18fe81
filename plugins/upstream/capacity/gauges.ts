import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Gauge, Reading } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { CapacityPool, Place } from './pool.ts';

async function listPools(host: Host): Promise<(readonly [Upstream, CapacityPool])[]> {
  const limited = host.catalog.upstreams.filter(({ capacity }) => capacity !== undefined);
  if (limited.length === 0) return [];
  const { slotPoolsOf } = await import('./slot-pools.ts');
  const pools = slotPoolsOf(host);
  return limited.flatMap((upstream) => {
    const pool = pools.of(upstream);
    return pool === undefined ? [] : [[upstream, pool] as const];
  });
}

function placesIn(pool: CapacityPool, wanted: Place['state']): Place[] {
  return [...pool.places].filter(({ state }) => state === wanted);
}

/** Slots held by, and requests waiting on, this instance. */
export const capacityGauges: readonly Gauge[] = [
  {
    name: 'upstream_slots_used',
    description: 'Slots of an upstream with a declared capacity that requests of this instance use.',
    labels: ['upstream'],
    read: async (host) =>
      (await listPools(host)).map(([{ name }, pool]) => ({
        value: placesIn(pool, 'running').length,
        labels: { upstream: name },
      })),
  },
  {
    name: 'queue_waiting',
    description: 'Requests of this instance that wait for a free slot of an upstream, by model.',
    labels: ['model'],
    async read(host): Promise<Reading[]> {
      const waiting = (await listPools(host)).flatMap(([, pool]) => placesIn(pool, 'waiting'));
      const limited = host.catalog.models.filter(({ routes }) => routes.some(({ upstream }) => upstream.capacity));
      return limited.map(({ id }) => ({
        value: waiting.filter(({ model }) => model === id).length,
        labels: { model: id },
      }));
    },
  },
];
