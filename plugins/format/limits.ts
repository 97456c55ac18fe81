import type { Model, Route } from '#core/catalog/catalog.ts';

/** What a client may rely on: what the model says, or else what the routes that are asked first take. */
export interface ModelLimits {
  readonly input: number | undefined; // tokens
  readonly output: number | undefined; // tokens
}

/** Backups do not count: a prompt that is too long for one goes to another. */
export function limitsOf({ routes, maxInputTokens, maxOutputTokens }: Model): ModelLimits {
  const [first] = routes;
  const primary = routes.filter(({ priority }) => priority === first?.priority);
  return {
    input: maxInputTokens ?? least(primary, (route) => route.maxInputTokens),
    output: maxOutputTokens ?? least(primary, (route) => route.profile.quirks.max_output_tokens),
  };
}

/** The smallest configured value; routes without one are assumed not to be smaller. */
function least(routes: readonly Route[], limitOf: (route: Route) => number | undefined): number | undefined {
  const said = routes.map(limitOf).filter((limit) => limit !== undefined);
  return said.length === 0 ? undefined : Math.min(...said);
}
