import type { Usage } from '#core/gateway/facts.ts';
import { withoutUndefined } from '../wire/members.ts';
import { estimateTokens, removeEmptyCounts } from './estimate.ts';
import type { CompleteUsage } from './reply.ts';

/**
 * Sums up the tokens of an answer as its upstream reports them, and estimates missing counts. If several routes wrote the answer, the
 * counts of all of them are included.
 */
export class UsageTally {
  readonly #estimateInput: () => number;
  #estimatedInput: number | undefined;
  #reported: Usage = {};
  #writtenCharacters = 0;
  readonly #truncatedRoutes: CompleteUsage[] = [];

  /** @param estimateInput estimates the tokens of the client's request; called at most once */
  constructor(estimateInput: () => number) {
    this.#estimateInput = estimateInput;
  }

  /** Later counts replace earlier ones, member by member. */
  recordReported(usage: Usage): void {
    this.#reported = { ...this.#reported, ...withoutUndefined(usage) };
  }

  addWritten(characters: number): void {
    this.#writtenCharacters += characters;
  }

  startNextRoute(): void {
    if (this.#hasProgress) this.#truncatedRoutes.push(this.#truncatedUsage);
    this.#reported = {};
    this.#writtenCharacters = 0;
  }

  get reported(): Usage {
    return this.#writtenCharacters > 0 ? removeEmptyCounts(this.#reported) : this.#reported;
  }

  get input(): number {
    return this.reported.input ?? (this.#estimatedInput ??= this.#estimateInput());
  }

  get isEstimated(): boolean {
    const { input, output } = this.reported;
    return this.#truncatedRoutes.length > 0 || input === undefined || output === undefined;
  }

  /** Usage for the client: counts the prompt once and adds up the outputs of all routes. */
  get clientUsage(): CompleteUsage {
    const routes = [...this.#truncatedRoutes, this.#routeUsage];
    const { output, reasoning } = sumUsages(routes);
    return { ...(routes[0] as CompleteUsage), output, reasoning };
  }

  /** Usage for accounting: the sum of all routes. */
  get accountedUsage(): CompleteUsage {
    return sumUsages([...this.#truncatedRoutes, this.#routeUsage]);
  }

  /** Usage for accounting if the answer was cut off and no route continues it. */
  get interruptedUsage(): CompleteUsage {
    const isCounted = this.#hasProgress || this.#truncatedRoutes.length === 0;
    return sumUsages(isCounted ? [...this.#truncatedRoutes, this.#truncatedUsage] : this.#truncatedRoutes);
  }

  get #hasProgress(): boolean {
    return this.#writtenCharacters > 0 || Object.keys(this.#reported).length > 0;
  }

  get #routeUsage(): CompleteUsage {
    const { output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = this.reported;
    return {
      input: Math.max(this.input, cacheRead + cacheWrite),
      output: output ?? estimateTokens(this.#writtenCharacters),
      cacheRead,
      cacheWrite,
      reasoning,
    };
  }

  /** Counts reported before the end are not final. */
  get #truncatedUsage(): CompleteUsage {
    const { output, ...usage } = this.#routeUsage;
    return { ...usage, output: Math.max(output, estimateTokens(this.#writtenCharacters)) };
  }
}

function sumUsages(routes: readonly CompleteUsage[]): CompleteUsage {
  const sumMember = (member: keyof CompleteUsage) => routes.reduce((count, usage) => count + usage[member], 0);
  return {
    input: sumMember('input'),
    output: sumMember('output'),
    cacheRead: sumMember('cacheRead'),
    cacheWrite: sumMember('cacheWrite'),
    reasoning: sumMember('reasoning'),
  };
}
