import type { Profile } from '#core/catalog/profile.ts';
import { GatewayError } from '#core/errors/table.ts';

/** Routes, by their profiles, whose streams have had a finish reason since the last reload. */
const finishing = new WeakSet<Profile>();

/** The stream of a route has a finish reason. */
export function noteFinish(profile: Profile | undefined): void {
  if (profile !== undefined) finishing.add(profile);
}

/**
 * What a stream is that ends with [DONE] and without a finish reason. `whole`: the vendor gives none, as its quirks say.
 * `cut`: the route has given them before. Otherwise nobody knows: it is passed on as it came.
 */
export function endingWithoutFinish(profile: Profile | undefined): 'whole' | 'cut' | 'unknown' {
  if (profile?.quirks.finish_reason === false) return 'whole';
  return profile !== undefined && finishing.has(profile) ? 'cut' : 'unknown';
}

/** The failure of a stream that ends without the finish reason that its route otherwise gives. */
export function missingFinish(): GatewayError {
  return new GatewayError('upstream_failed', 'The upstream ended its response without a finish reason.');
}
