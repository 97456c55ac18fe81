import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { estimateTokens, promptTokens } from './estimate.ts';
import { member } from '../wire/members.ts';

/** Number of deltas to measure, and maximum number of deltas to parse to find them. */
const samples = { wanted: 4, max: 16 };
/** Members of a reply that hold the model's text, in all formats. */
const answers = ['choices', 'content', 'output', 'candidates'] as const;
/** Members of an answer that are not the model's text. */
const frames = new Set(
  (
    'role type id index object status call_id finish_reason finishReason annotations logprobs ' +
    'signature encrypted_content thoughtSignature data result b64_json'
  ).split(' '),
);
/** Members of a tool call that the model wrote entirely, including the names of inner members. */
const inputs = new Set(['input', 'args']);

/**
 * Estimates the tokens of a pass-through reply, for upstreams that do not report them. Only the first deltas of a stream
 * are parsed, which shows how many characters surround the text of an event. The text of later deltas is estimated as
 * their length minus that number.
 */
export class UsageMeter {
  readonly #request: { readonly body: JsonObject };
  #input: number | undefined;
  #characters = 0;
  #frame = Number.POSITIVE_INFINITY; // characters that surround the text of an event
  #sampled = 0;
  #measured = 0;
  #whole: number | undefined;
  #isMiscounted = false;

  /** @param request its body is read only when its tokens must be estimated */
  constructor(request: { readonly body: JsonObject }) {
    this.#request = request;
  }

  delta(event: StreamEvent): void {
    if (this.#measured < samples.wanted && this.#sampled < samples.max) this.#sample(event);
    else this.#characters += Math.max(1, event.text.length - this.#frame);
  }

  /** Counts the whole answer, which takes precedence over its deltas. */
  whole(reply: JsonObject): void {
    const characters = answers.reduce((sum, name) => sum + charactersOf(reply[name]), 0);
    if (characters > 0) this.#whole = estimateTokens(characters);
  }

  /** Treats the reported output tokens as a lower bound, because the upstream reported them before the end. */
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
   * Completes the upstream's counts with estimates.
   *
   * @param isOver false for a truncated reply, whose counts are not final
   */
  complete(reported: Usage | undefined, isOver: boolean): Usage {
    const { input, output } = reported ?? {};
    const isFinal = isOver && !this.#isMiscounted;
    if (isFinal && input !== undefined && output !== undefined) return reported as Usage;
    const estimate = isFinal ? (output ?? this.output) : Math.max(output ?? 0, this.output);
    return { ...reported, input: input ?? this.input, output: estimate, isEstimated: true };
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

/** Counts the characters of an answer or delta that the model wrote, including escapes. */
function charactersOf(value: JsonValue | undefined): number {
  if (typeof value === 'string') return JSON.stringify(value).length - 2;
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + charactersOf(entry), 0);
  if (!isJsonObject(value)) return 0;
  // A choice holds its delta next to metadata.
  const delta = member(value, 'delta') ?? member(value, 'content');
  if (isJsonObject(delta)) return charactersOf(delta);
  let characters = 0;
  for (const [name, part] of Object.entries(value)) {
    // Some vendors send the same text under both names.
    if (name === 'reasoning' && value['reasoning_content'] === part) continue;
    if (inputs.has(name) && isJsonObject(part)) characters += JSON.stringify(part).length;
    else if (!frames.has(name)) characters += charactersOf(part);
  }
  return characters;
}
