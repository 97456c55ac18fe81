import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { mayHoldLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { UniqueIds } from '../../../canonical/call-ids.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { asList, asText, member, parseBody, sameOr } from '../../../wire/members.ts';
import { mapEntries } from '../../adaptation/adapt-members.ts';
import { type ReplyRepair, withData, withoutEmptyError } from '../../contract/pass-through.ts';
import { unwrapped } from './decode-reply.ts';
import { PartialArgs } from './partial-args.ts';
import type { GeminiCall, GeminiCandidate, GeminiContent, GeminiPart, GeminiReply } from '../../../wire/gemini.ts';

/**
 * Repairs the deviations of endpoints that imitate Gemini: two calls of an answer have the same id, a call is sent twice, a part has
 * all possible members, most of them empty, or the reply is wrapped in an object. All other bytes stay unchanged.
 */
export class GeminiReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  readonly #candidates = new Map<JsonValue, CandidateCalls>();

  event(event: StreamEvent): readonly StreamEvent[] {
    const { data = '' } = event;
    const parsed = event.parse();
    if (parsed === undefined || !mayNeedRepair(parsed)) return [event];
    const body = exact(data, parsed);
    const repaired = body && this.#repaired(body);
    return [repaired === undefined || repaired === body ? event : withData(event, repaired)];
  }

  whole(body: JsonObject, given: string): JsonObject {
    if (!mayNeedRepair(body)) return body;
    const whole = exact(given, body) ?? body;
    const repaired = this.#repaired(whole);
    return repaired === whole ? body : repaired;
  }

  #repaired(given: JsonObject): JsonObject {
    const body = withoutEmptyError(unwrapped(given));
    const { candidates }: GeminiReply = body;
    if (!Array.isArray(candidates)) return body;
    const repaired = mapEntries(candidates, (candidate) => this.#candidate(candidate));
    return repaired === candidates ? body : { ...body, candidates: repaired };
  }

  #candidate(candidate: JsonValue): JsonValue {
    const { content, index = 0 }: GeminiCandidate = isJsonObject(candidate) ? candidate : {};
    const parts = member<GeminiContent>(content, 'parts');
    if (!isJsonObject(candidate) || !isJsonObject(content) || !Array.isArray(parts)) return candidate;
    const calls = this.#candidates.get(index) ?? new CandidateCalls();
    this.#candidates.set(index, calls);
    const kept = sameOr(
      parts,
      parts.map((part) => calls.part(part)).filter((part) => part !== undefined),
    );
    return kept === parts ? candidate : { ...candidate, content: { ...content, parts: kept } };
  }
}

/** Kinds of parts other than text, which clients recognize by the presence of the member. */
const alternatives = [
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;

/** True for a reply that has a call (possibly empty) or an error, or that is wrapped in an object. */
function mayNeedRepair({ error, response, candidates }: GeminiReply): boolean {
  return error !== undefined || response !== undefined || asList(candidates).some(hasCall);
}

function hasCall(candidate: JsonValue): boolean {
  const parts = member<GeminiContent>(member<GeminiCandidate>(candidate, 'content'), 'parts');
  return asList(parts).some((part) => member<GeminiPart>(part, 'functionCall') !== undefined);
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  return value === null || (isJsonObject(value) && !isFilled(value));
}

/** Inputs of calls are objects, so their numbers must keep all digits. */
function exact(text: string, body: JsonObject | undefined): JsonObject | undefined {
  return mayHoldLongNumbers(text) ? parseBody(text) : body;
}

interface SentCall {
  /** The vendor's id, which `id` replaces. */
  readonly given: string;
  readonly id: string;
  readonly name: string;
  /** Undefined while the arguments arrive in pieces. */
  input: string | undefined;
}

class CandidateCalls {
  readonly #ids = new UniqueIds();
  readonly #sent: SentCall[] = [];
  #open: { readonly call: SentCall; readonly args: PartialArgs } | undefined;

  /** The part for the client; undefined for a call that repeats the id, name and arguments of an earlier call. */
  part(received: JsonValue): JsonValue | undefined {
    const part = isJsonObject(received) ? this.#withoutEmpty(received) : received;
    const call: GeminiCall | undefined = member<GeminiPart>(part, 'functionCall') as GeminiCall | undefined;
    if (!isJsonObject(part) || !isJsonObject(call)) return part;
    if (asText(call.name) === '') return this.#continued(part, call);
    this.#close();
    const given = asText(call.id);
    if (given === '') return part;
    const isWhole = isJsonObject(call.args) || (call.willContinue !== true && call.partialArgs === undefined);
    const input = isWhole ? canonicalInput(JSON.stringify(call.args ?? {})) : undefined;
    const name = asText(call.name);
    const isRepeated = this.#sent.some((one) => one.given === given && one.name === name && one.input === input);
    if (input !== undefined && isRepeated) return undefined;
    const sent: SentCall = { given, id: this.#ids.next(given), name, input };
    this.#sent.push(sent);
    if (!isWhole) this.#take(call, { call: sent, args: new PartialArgs() });
    return withId(part, call, sent.id);
  }

  /** Removes empty members, but keeps an empty call that ends an open call. */
  #withoutEmpty(part: GeminiPart): JsonObject {
    const empty = alternatives.filter(
      (name) => isEmptyObject(part[name]) && !(name === 'functionCall' && this.#open !== undefined),
    );
    if (empty.length === 0) return part;
    const kept = Object.entries(part).filter(([name]) => !(empty as readonly string[]).includes(name));
    return kept.length === 0 ? part : Object.fromEntries(kept);
  }

  #continued(part: JsonObject, call: GeminiCall): JsonValue {
    const open = this.#open;
    if (open === undefined) return part;
    this.#take(call, open);
    return asText(call.id) === '' ? part : withId(part, call, open.call.id);
  }

  #take(call: GeminiCall, open: { readonly call: SentCall; readonly args: PartialArgs }): void {
    this.#open = open;
    open.args.add(call.partialArgs);
    if (call.willContinue !== true) this.#close();
  }

  #close(): void {
    if (this.#open !== undefined) this.#open.call.input = canonicalInput(this.#open.args.text);
    this.#open = undefined;
  }
}

function withId(part: GeminiPart, call: GeminiCall, id: string): JsonObject {
  return call.id === id ? part : { ...part, functionCall: { ...call, id } };
}
