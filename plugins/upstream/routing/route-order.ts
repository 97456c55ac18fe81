import type { Route } from '#core/config/catalog/catalog.ts';

/**
 * Returns the routes of a model in the order in which a request tries them: by priority, then by weight. Requests of one session get the
 * same order without stored state, because upstreams cache prompts. Health is not considered.
 */
export function orderRoutes(routes: readonly Route[], session: string | undefined): Route[] {
  if (routes.length < 2) return [...routes];
  const scored = routes.map((route) => ({ route, score: computeScore(route.id, route.weight, session) }));
  return scored.toSorted((a, b) => a.route.priority - b.route.priority || b.score - a.score).map(({ route }) => route);
}

export interface RemainingRoutes {
  routes: Route[];
}

export function moveToFront(routes: Route[], id: string | undefined): Route[] {
  const first = id === undefined ? undefined : routes.find((route) => route.id === id);
  return first === undefined ? routes : [first, ...routes.filter((route) => route !== first)];
}

export function moveMatchingFirst(routes: Route[], matches: (route: Route) => boolean): Route[] {
  if (routes.length < 2 || routes.every(matches)) return routes;
  return [...routes.filter(matches), ...routes.filter((route) => !matches(route))];
}

/**
 * Returns the routes with a larger context window than this one, then those with an unknown window. If this route's window is unknown too,
 * the result is empty, because no other route is more likely to accept the prompt.
 */
export function selectWider(
  { maxInputTokens = Infinity }: Pick<Route, 'maxInputTokens'>,
  routes: readonly Route[],
): Route[] {
  const widerRoutes = routes.filter((route) => (route.maxInputTokens ?? 0) > maxInputTokens);
  const unknownRoutes = maxInputTokens === Infinity ? [] : routes.filter((route) => route.maxInputTokens === undefined);
  return [...widerRoutes, ...unknownRoutes];
}

/** Most sessions keep their candidate when others are added or removed. */
export function pickBySession<T>(candidates: readonly T[], getName: (candidate: T) => string, session: string): T {
  const scores = candidates.map((candidate) => hashToFraction(getName(candidate), session));
  return candidates[scores.indexOf(Math.max(...scores))] as T;
}

/** Returns the score of a name in weighted rendezvous hashing, where the highest score wins. Random without a session. */
function computeScore(name: string, weight: number, session: string | undefined): number {
  if (weight <= 0) return Number.NEGATIVE_INFINITY;
  return -weight / Math.log(session === undefined ? 1 - Math.random() : hashToFraction(name, session));
}

/** Hashes name and session to a number in (0, 1): FNV-1a with the finalizer of MurmurHash3. */
function hashToFraction(name: string, session: string): number {
  const text = `${session}\n${name}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 1) / (2 ** 32 + 1);
}
