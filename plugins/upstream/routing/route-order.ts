import type { Route } from '#core/config/catalog/catalog.ts';

/**
 * Returns the routes of a model in the order in which a request tries them: by priority, then by weight. Requests of one session get the
 * same order without stored state, because upstreams cache prompts. Health is not considered.
 */
export function orderRoutes(routes: readonly Route[], session: string | undefined): Route[] {
  if (routes.length < 2) return [...routes];
  const scored = routes.map((route) => ({ route, score: scoreOf(route.id, route.weight, session) }));
  return scored.toSorted((a, b) => a.route.priority - b.route.priority || b.score - a.score).map(({ route }) => route);
}

/** Routes that a request has not tried yet, in order. */
export interface RoutesLeft {
  routes: Route[];
}

/** Moves the route with this id to the front. */
export function firstOf(routes: Route[], id: string | undefined): Route[] {
  const first = id === undefined ? undefined : routes.find((route) => route.id === id);
  return first === undefined ? routes : [first, ...routes.filter((route) => route !== first)];
}

/** Moves unavailable routes to the end. */
export function availableFirst(routes: Route[], isAvailable: (route: Route) => boolean): Route[] {
  if (routes.length < 2 || routes.every(isAvailable)) return routes;
  return [...routes.filter(isAvailable), ...routes.filter((route) => !isAvailable(route))];
}

/**
 * Returns routes known to have a larger context window than this one, then those with an unknown window. If this route's window is unknown
 * too, no other is more likely to accept the prompt.
 */
export function widerThan(
  { maxInputTokens = Infinity }: Pick<Route, 'maxInputTokens'>,
  routes: readonly Route[],
): Route[] {
  const wider = routes.filter((route) => (route.maxInputTokens ?? 0) > maxInputTokens);
  const unknown = maxInputTokens === Infinity ? [] : routes.filter((route) => route.maxInputTokens === undefined);
  return [...wider, ...unknown];
}

/** Picks the candidate for a session; stays the same for most sessions when candidates are added or removed. */
export function pickBySession<T>(candidates: readonly T[], nameOf: (candidate: T) => string, session: string): T {
  const scores = candidates.map((candidate) => drawOf(nameOf(candidate), session));
  return candidates[scores.indexOf(Math.max(...scores))] as T;
}

/** Weighted rendezvous hashing: each name draws a number, and the highest wins. Random without a session. */
function scoreOf(name: string, weight: number, session: string | undefined): number {
  if (weight <= 0) return Number.NEGATIVE_INFINITY;
  return -weight / Math.log(session === undefined ? 1 - Math.random() : drawOf(name, session));
}

/** Number in (0, 1), stable for the same name and session: FNV-1a with the finalizer of MurmurHash3. */
function drawOf(name: string, session: string): number {
  const text = `${session}\n${name}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 1) / (2 ** 32 + 1);
}
