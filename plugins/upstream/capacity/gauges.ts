import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Gauge, Reading } from '#core/gateway/health/gauge.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { CapacityPool, Place } from './pool.ts';

async function listPools(host: Host): Promise<(readonly [Upstream, CapacityPool])[]> {
  const limitedUpstreams = host.catalog.upstreams.filter(({ capacity }) => capacity !== undefined);
  if (limitedUpstreams.length === 0) return [];
  const { getSlotPools } = await import('./slot-pools.ts');
  const pools = getSlotPools(host);
  return limitedUpstreams.flatMap((upstream) => {
    const pool = pools.find(upstream);
    return pool === undefined ? [] : [[upstream, pool] as const];
  });
}

function listPlaces(pool: CapacityPool, placeState: Place['state']): Place[] {
  return [...pool.places].filter(({ state }) => state === placeState);
}

export const capacityGauges: readonly Gauge[] = [
  {
    name: 'upstream_slots_used',
    description: 'Slots in use by requests of this instance, for upstreams that declare a capacity.',
    labels: ['upstream'],
    read: async (host) =>
      (await listPools(host)).map(([{ name }, pool]) => ({
        value: listPlaces(pool, 'running').length,
        labels: { upstream: name },
      })),
  },
  {
    name: 'queue_waiting',
    description: 'Requests of this instance waiting for a free slot, by model.',
    labels: ['model'],
    async read(host): Promise<Reading[]> {
      const waitingPlaces = (await listPools(host)).flatMap(([, pool]) => listPlaces(pool, 'waiting'));
      const limitedModels = host.catalog.models.filter(({ routes }) =>
        routes.some(({ upstream }) => upstream.capacity),
      );
      return limitedModels.map(({ id }) => ({
        value: waitingPlaces.filter(({ model }) => model === id).length,
        labels: { model: id },
      }));
    },
  },
];
