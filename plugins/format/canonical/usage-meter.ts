import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { readMember } from '../wire/members.ts';
import { estimateTokens, estimatePromptTokens, removeEmptyCounts } from './estimate.ts';

const maxDeltas = { measured: 4, parsed: 16 }; // deltas with text, and deltas parsed to find them
const textMembers = ['choices', 'content', 'output', 'candidates'] as const;
const metadataMembers = new Set(
  (
    'role type id index object status call_id finish_reason finishReason annotations logprobs ' +
    'signature encrypted_content thoughtSignature data result b64_json'
  ).split(' '),
);
/** Members of a tool call that the model wrote entirely, including the names inside them. */
const inputMembers = new Set(['input', 'args']);

/**
 * Estimates the tokens of a pass-through reply, for upstreams that do not report them. A delta is counted exactly if its content is known
 * or another reader has parsed it. Of the other deltas, only the first ones in each part are parsed, to learn how many characters surround
 * an event's text. The text of later deltas is estimated as the event's length minus that number.
 */
export class UsageMeter {
  readonly #request: { readonly body: JsonObject };
  #input: number | undefined;
  #characters = 0;
  #frameLength = Number.POSITIVE_INFINITY; // characters that surround an event's text
  #parsedDeltas = 0;
  #measuredDeltas = 0;
  #wholeTokens: number | undefined;
  #isOutputUnreliable = false;

  /** @param request its body is only read if its tokens must be estimated */
  constructor(request: { readonly body: JsonObject }) {
    this.#request = request;
  }

  addDelta(event: StreamEvent): void {
    const { contentDelta } = event;
    if (contentDelta !== undefined) {
      const { text, reasoning, input } = contentDelta;
      this.#characters += text.length + reasoning.length + (input?.text.length ?? 0);
      return;
    }
    const characters = event.text.length - this.#frameLength;
    const isLearning = this.#measuredDeltas < maxDeltas.measured && this.#parsedDeltas < maxDeltas.parsed;
    // An event as short as the frame has no room for text, so it is of a different kind, such as text after reasoning.
    const isOtherKind = characters <= 0 && this.#measuredDeltas > 0;
    if (isLearning || isOtherKind || event.isParsed) this.#measure(event);
    else this.#characters += Math.max(1, characters);
  }

  /** Starts a part of the reply whose deltas have a different frame, such as a call after text. */
  startPart(): void {
    this.#frameLength = Number.POSITIVE_INFINITY;
    this.#parsedDeltas = 0;
    this.#measuredDeltas = 0;
  }

  /** Counts the whole answer; this count takes precedence over the counts of its deltas. */
  addWhole(reply: JsonObject): void {
    const characters = textMembers.reduce((sum, name) => sum + countWrittenCharacters(reply[name]), 0);
    if (characters > 0) this.#wholeTokens = estimateTokens(characters);
  }

  /** Treats the reported output tokens as a lower bound, because the upstream reported them before the end. */
  distrustOutput(): void {
    this.#isOutputUnreliable = true;
  }

  get input(): number {
    return (this.#input ??= estimatePromptTokens(this.#request.body));
  }

  get output(): number {
    return this.#wholeTokens ?? estimateTokens(this.#characters);
  }

  /**
   * Completes the upstream's counts with estimates.
   *
   * @param isOver false if the reply was cut off, so that its counts are not final
   */
  complete(reported: Usage | undefined, isOver: boolean): Usage {
    const counted = reported !== undefined && this.output > 0 ? removeEmptyCounts(reported) : reported;
    const { input, output } = counted ?? {};
    const isFinal = isOver && !this.#isOutputUnreliable;
    if (isFinal && input !== undefined && output !== undefined) return reported as Usage;
    const estimate = isFinal ? (output ?? this.output) : Math.max(output ?? 0, this.output);
    return { ...reported, input: input ?? this.input, output: estimate, isEstimated: true };
  }

  #measure(event: StreamEvent): void {
    this.#parsedDeltas++;
    const { choices, candidates, delta, content_block: block } = event.parse() ?? {};
    const characters = countWrittenCharacters(choices ?? candidates ?? delta ?? block);
    if (characters === 0) return;
    this.#measuredDeltas++;
    this.#characters += characters;
    this.#frameLength = Math.min(this.#frameLength, event.text.length - characters);
  }
}

function countWrittenCharacters(value: JsonValue | undefined): number {
  if (typeof value === 'string') return JSON.stringify(value).length - 2; // with escapes, as in the event's text
  if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + countWrittenCharacters(entry), 0);
  if (!isJsonObject(value)) return 0;
  // A choice holds its delta next to its metadata.
  const delta = readMember(value, 'delta') ?? readMember(value, 'content');
  if (isJsonObject(delta)) return countWrittenCharacters(delta);
  let characters = 0;
  for (const [name, part] of Object.entries(value)) {
    // Some vendors send the same text under both names.
    if (name === 'reasoning' && value['reasoning_content'] === part) continue;
    if (inputMembers.has(name) && isJsonObject(part)) characters += JSON.stringify(part).length;
    else if (!metadataMembers.has(name)) characters += countWrittenCharacters(part);
  }
  return characters;
}
