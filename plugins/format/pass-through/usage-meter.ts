import type { Usage } from '#core/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { estimateTokens, promptTokens } from '../canonical/estimate.ts';
import { member, parseObject } from '../request/members.ts';

/** Deltas that are read; the others are measured by what these have shown. */
const samples = { wanted: 4, most: 16 };
/** Members of a reply that hold what the model has said, over the formats. */
const answers = ['choices', 'content', 'output', 'candidates'] as const;
/** Members of an answer that the model has not written. */
const frames = new Set(
  (
    'role type id index object status call_id finish_reason finishReason annotations logprobs ' +
    'signature encrypted_content thoughtSignature data result b64_json'
  ).split(' '),
);
/** Members of a call in which everything is the model's, names included. */
const inputs = new Set(['input', 'args']);

/**
 * Guesses the tokens of a reply that passes by, in case its upstream does not count them. Every event of a stream comes
 * by here, so next to nothing is done for it: the first deltas show how many characters of an event are no text, and
 * that many are taken off the length of the others.
 */
export class UsageMeter {
  readonly #request: JsonObject;
  #input: number | undefined;
  #characters = 0;
  #frame = Number.POSITIVE_INFINITY; // characters of an event around its text
  #sampled = 0;
  #measured = 0;
  #whole: number | undefined;
  #isMiscounted = false;

  constructor(request: JsonObject) {
    this.#request = request;
  }

  /** Takes an event that carries a piece of the answer. */
  delta(event: string): void {
    if (this.#measured < samples.wanted && this.#sampled < samples.most) this.#sample(event);
    else this.#characters += Math.max(1, event.length - this.#frame);
  }

  /** Takes the answer as a whole, which counts more than its deltas. */
  whole(reply: JsonObject): void {
    const characters = answers.reduce((sum, name) => sum + charactersOf(reply[name]), 0);
    if (characters > 0) this.#whole = estimateTokens(characters);
  }

  /** What the upstream has said of the output does not count: it was said before the end. */
  distrustOutput(): void {
    this.#isMiscounted = true;
  }

  get input(): number {
    return (this.#input ??= promptTokens(this.#request));
  }

  get output(): number {
    return this.#whole ?? estimateTokens(this.#characters);
  }

  /**
   * What the upstream has counted, with a guess in the place of what it has not.
   *
   * @param isOver false for a reply that was broken off: what was counted by then is not all
   */
  complete(counted: Usage | undefined, isOver: boolean): Usage {
    const { input, output } = counted ?? {};
    const isFinal = isOver && !this.#isMiscounted;
    if (isFinal && input !== undefined && output !== undefined) return counted as Usage;
    const guess = isFinal ? (output ?? this.output) : Math.max(output ?? 0, this.output);
    return { ...counted, input: input ?? this.input, output: guess, isEstimated: true };
  }

  #sample(event: string): void {
    this.#sampled++;
    const { choices, candidates, delta } = dataOf(event) ?? {};
    const characters = charactersOf(choices ?? candidates ?? delta);
    if (characters === 0) return;
    this.#measured++;
    this.#characters += characters;
    this.#frame = Math.min(this.#frame, event.length - characters);
  }
}

/** The object that an event holds; undefined when it is something else, or not JSON. */
export function dataOf(event: string): JsonObject | undefined {
  const lines = event.split(/\r\n|\n|\r/);
  return parseObject(lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : [])).join('\n'));
}

/** Characters of what the model has written in an answer or a delta, escaped as there. */
function charactersOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return JSON.stringify(value).length - 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + charactersOf(entry), 0);
  if (!isJsonObject(value)) return 0;
  // A choice has its delta beside what is said of it.
  const inner = member(value, 'delta') ?? member(value, 'content');
  if (isJsonObject(inner)) return charactersOf(inner);
  let characters = 0;
  for (const [name, part] of Object.entries(value)) {
    if (inputs.has(name) && isJsonObject(part)) characters += JSON.stringify(part).length;
    else if (!frames.has(name)) characters += charactersOf(part);
  }
  return characters;
}
