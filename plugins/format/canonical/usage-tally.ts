import type { Usage } from '#core/gateway/facts.ts';
import { estimateTokens } from './estimate.ts';
import type { FullUsage } from './reply.ts';

/**
 * Sums up the tokens of an answer as reported by its upstream, and estimates missing counts. For an answer written by several
 * routes, the counts of all routes are included.
 */
export class UsageTally {
  readonly #estimateInput: () => number;
  #estimatedInput: number | undefined;
  #reported: Usage = {};
  #written = 0; // characters
  /** Usage of the routes whose answers were truncated. */
  readonly #broken: FullUsage[] = [];

  /** @param estimateInput estimates the tokens of the client's request; called at most once */
  constructor(estimateInput: () => number) {
    this.#estimateInput = estimateInput;
  }

  /** Records reported counts. Later counts replace earlier ones, member by member. */
  take(usage: Usage): void {
    const reported = Object.entries(usage).filter(([, value]) => value !== undefined);
    this.#reported = { ...this.#reported, ...Object.fromEntries(reported) };
  }

  wrote(characters: number): void {
    this.#written += characters;
  }

  /** Starts counting for another route, which continues a truncated answer. */
  next(): void {
    if (this.#hasWorked) this.#broken.push(this.#ofBroken);
    this.#reported = {};
    this.#written = 0;
  }

  get reported(): Usage {
    return this.#reported;
  }

  get input(): number {
    return this.#reported.input ?? (this.#estimatedInput ??= this.#estimateInput());
  }

  get isEstimated(): boolean {
    return this.#broken.length > 0 || this.#reported.input === undefined || this.#reported.output === undefined;
  }

  /** Usage for the client. The prompt counts once, and the outputs of all routes are added up. */
  get full(): FullUsage {
    const routes = [...this.#broken, this.#ofRoute];
    const { output, reasoning } = sum(routes);
    return { ...(routes[0] as FullUsage), output, reasoning };
  }

  /** Usage for accounting: the sum of all routes. */
  get worked(): FullUsage {
    return sum([...this.#broken, this.#ofRoute]);
  }

  /** Usage for accounting of a truncated answer that no route continues. */
  get interrupted(): FullUsage {
    const isCounted = this.#hasWorked || this.#broken.length === 0;
    return sum(isCounted ? [...this.#broken, this.#ofBroken] : this.#broken);
  }

  /** False if the route has neither reported nor written anything. */
  get #hasWorked(): boolean {
    return this.#written > 0 || Object.keys(this.#reported).length > 0;
  }

  get #ofRoute(): FullUsage {
    const { output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = this.#reported;
    return {
      input: Math.max(this.input, cacheRead + cacheWrite),
      output: output ?? estimateTokens(this.#written),
      cacheRead,
      cacheWrite,
      reasoning,
    };
  }

  /** Usage of a route whose answer was truncated: counts reported before the end are not final. */
  get #ofBroken(): FullUsage {
    const { output, ...usage } = this.#ofRoute;
    return { ...usage, output: Math.max(output, estimateTokens(this.#written)) };
  }
}

function sum(routes: readonly FullUsage[]): FullUsage {
  const total = (member: keyof FullUsage) => routes.reduce((count, usage) => count + usage[member], 0);
  return {
    input: total('input'),
    output: total('output'),
    cacheRead: total('cacheRead'),
    cacheWrite: total('cacheWrite'),
    reasoning: total('reasoning'),
  };
}
