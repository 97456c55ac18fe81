import type { Usage } from '#core/facts.ts';
import { estimateTokens } from './estimate.ts';
import type { FullUsage } from './reply.ts';

/**
 * Counts the tokens of an answer as its upstream reports them, and guesses what is not reported. An answer that several
 * routes have written one after the other has the counts of all of them.
 */
export class UsageTally {
  readonly #guessInput: () => number;
  #guessedInput: number | undefined;
  #said: Usage = {};
  #written = 0;
  /** Of the routes that broke off. */
  readonly #broken: FullUsage[] = [];

  /** @param guessInput guesses the tokens of the client's request; asked once, when it is needed */
  constructor(guessInput: () => number) {
    this.#guessInput = guessInput;
  }

  /** Later counts replace earlier ones, member by member. */
  take(usage: Usage): void {
    const known = Object.entries(usage).filter(([, value]) => value !== undefined);
    this.#said = { ...this.#said, ...Object.fromEntries(known) };
  }

  wrote(characters: number): void {
    this.#written += characters;
  }

  /** Another route goes on after the one that has broken off. */
  next(): void {
    if (this.#hasWorked) this.#broken.push(this.#ofBroken);
    this.#said = {};
    this.#written = 0;
  }

  /** What the route that writes now has reported. */
  get said(): Usage {
    return this.#said;
  }

  /** Tokens of the prompt, for the beginning of the answer. */
  get input(): number {
    return this.#said.input ?? (this.#guessedInput ??= this.#guessInput());
  }

  get isEstimated(): boolean {
    return this.#broken.length > 0 || this.#said.input === undefined || this.#said.output === undefined;
  }

  /** For the client: its prompt counts once, however many routes have read it; what they wrote counts together. */
  get full(): FullUsage {
    const routes = [...this.#broken, this.#ofRoute];
    const { output, reasoning } = sum(routes);
    return { ...(routes[0] as FullUsage), output, reasoning };
  }

  /** For the record: all that the routes have worked for. */
  get worked(): FullUsage {
    return sum([...this.#broken, this.#ofRoute]);
  }

  /** The same for an answer that goes no further. */
  get interrupted(): FullUsage {
    const isKnown = this.#hasWorked || this.#broken.length === 0;
    return sum(isKnown ? [...this.#broken, this.#ofBroken] : this.#broken);
  }

  /** Of a route without a count and a word nothing is known. */
  get #hasWorked(): boolean {
    return this.#written > 0 || Object.keys(this.#said).length > 0;
  }

  get #ofRoute(): FullUsage {
    const { output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = this.#said;
    return {
      input: Math.max(this.input, cacheRead + cacheWrite),
      output: output ?? estimateTokens(this.#written),
      cacheRead,
      cacheWrite,
      reasoning,
    };
  }

  /** What was counted before the end is not all. */
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
