import type { Host } from '../host/host.ts';

/** PostgreSQL channel that notifies every instance when an operator resets a route. */
export const routeResetChannel = 'daypass_route_reset';

/** Returns the ids of all routes, without duplicates, in the order of gateway.yaml. */
export function listRouteIds({ catalog }: Pick<Host, 'catalog'>): string[] {
  return [...new Set(catalog.models.flatMap(({ routes }) => routes.map(({ id }) => id)))];
}

/** Closes the breaker of a route and ends the cooldowns of its keys, on every running instance. Resolves before the instances react. */
export async function resetRoute({ database }: Pick<Host, 'database'>, route: string): Promise<void> {
  await database.query('SELECT pg_notify(?, ?)', [routeResetChannel, route]);
}
