import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { estimateTokens, promptTokens } from './estimate.ts';
import { member } from '../wire/members.ts';

/** Numbers of deltas that are read. */
const samples = { wanted: 4, most: 16 };
/** Members of a reply that hold text of the model, in all formats. */
const answers = ['choices', 'content', 'output', 'candidates'] as const;
/** Members of an answer that are not text of the model. */
const frames = new Set(
  (
    'role type id index object status call_id finish_reason finishReason annotations logprobs ' +
    'signature encrypted_content thoughtSignature data result b64_json'
  ).split(' '),
);
/** Members of a tool call that are entirely text of the model, including their names. */
const inputs = new Set(['input', 'args']);

/**
 * Estimates the tokens of a reply that passes through, in case its upstream does not count them. Only the first deltas of
 * a stream are read: they show how many characters of an event surround its text, and the others are measured by their
 * length without that many.
 */
export class UsageMeter {
  readonly #request: { readonly body: JsonObject };
  #input: number | undefined;
  #characters = 0;
  #frame = Number.POSITIVE_INFINITY; // characters of an event around its text
  #sampled = 0;
  #measured = 0;
  #whole: number | undefined;
  #isMiscounted = false;

  /** @param request whose body is asked for only when its tokens are estimated */
  constructor(request: { readonly body: JsonObject }) {
    this.#request = request;
  }

  delta(event: StreamEvent): void {
    if (this.#measured < samples.wanted && this.#sampled < samples.most) this.#sample(event);
    else this.#characters += Math.max(1, event.text.length - this.#frame);
  }

  /** Takes the whole answer, which counts more than its deltas. */
  whole(reply: JsonObject): void {
    const characters = answers.reduce((sum, name) => sum + charactersOf(reply[name]), 0);
    if (characters > 0) this.#whole = estimateTokens(characters);
  }

  /** Ignores the output that the upstream has reported, because it did so before the end. */
  distrustOutput(): void {
    this.#isMiscounted = true;
  }

  get input(): number {
    return (this.#input ??= promptTokens(this.#request.body));
  }

  get output(): number {
    return this.#whole ?? estimateTokens(this.#characters);
  }

  /**
   * The upstream's counts, with estimates for missing ones.
   *
   * @param isOver false for a broken reply, whose counts are not final
   */
  complete(counted: Usage | undefined, isOver: boolean): Usage {
    const { input, output } = counted ?? {};
    const isFinal = isOver && !this.#isMiscounted;
    if (isFinal && input !== undefined && output !== undefined) return counted as Usage;
    const estimate = isFinal ? (output ?? this.output) : Math.max(output ?? 0, this.output);
    return { ...counted, input: input ?? this.input, output: estimate, isEstimated: true };
  }

  #sample(event: StreamEvent): void {
    this.#sampled++;
    const { choices, candidates, delta } = event.parse() ?? {};
    const characters = charactersOf(choices ?? candidates ?? delta);
    if (characters === 0) return;
    this.#measured++;
    this.#characters += characters;
    this.#frame = Math.min(this.#frame, event.text.length - characters);
  }
}

/** Characters that the model has written in an answer or a delta, escapes included. */
function charactersOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return JSON.stringify(value).length - 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + charactersOf(entry), 0);
  if (!isJsonObject(value)) return 0;
  // A choice has its delta beside members about it.
  const inner = member(value, 'delta') ?? member(value, 'content');
  if (isJsonObject(inner)) return charactersOf(inner);
  let characters = 0;
  for (const [name, part] of Object.entries(value)) {
    // The same text under its second name.
    if (name === 'reasoning' && value['reasoning_content'] === part) continue;
    if (inputs.has(name) && isJsonObject(part)) characters += JSON.stringify(part).length;
    else if (!frames.has(name)) characters += charactersOf(part);
  }
  return characters;
}
