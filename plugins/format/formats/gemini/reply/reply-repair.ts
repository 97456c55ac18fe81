import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { mayContainLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { UniqueIds } from '../../../canonical/call-ids.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import type {
  GeminiFunctionCall,
  GeminiCandidate,
  GeminiContent,
  GeminiPart,
  GeminiReply,
} from '../../../wire/gemini.ts';
import { asList, asText, readMember, parseBody, keepIfSame } from '../../../wire/members.ts';
import { mapListMember, withMember, omitMembers } from '../../adaptation/adapt-members.ts';
import { type ReplyRepair, replaceEventData, removeEmptyError } from '../../contract/pass-through.ts';
import { unwrapReply } from './decode-reply.ts';
import { PartialArgs } from './partial-args.ts';

/**
 * Repairs the replies of endpoints that imitate Gemini: two calls in a candidate have the same id, a call is sent twice, a part has all
 * possible members, most of them empty, or the reply is wrapped in an object. All other bytes stay unchanged.
 */
export class GeminiReplyRepair implements ReplyRepair {
  readonly failure = undefined;
  readonly #candidates = new Map<JsonValue, CandidateCalls>();

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const { data = '' } = event;
    const parsed = event.parse();
    if (parsed === undefined || !mayNeedRepair(parsed)) return [event];
    const body = parseExactly(data, parsed);
    const repairedBody = body && this.#repair(body);
    return [repairedBody === undefined || repairedBody === body ? event : replaceEventData(event, repairedBody)];
  }

  repairReply(body: JsonObject, text: string): JsonObject {
    if (!mayNeedRepair(body)) return body;
    const exactBody = parseExactly(text, body) ?? body;
    const repairedBody = this.#repair(exactBody);
    return repairedBody === exactBody ? body : repairedBody;
  }

  #repair(envelope: JsonObject): JsonObject {
    const body = removeEmptyError(unwrapReply(envelope));
    return mapListMember(body, 'candidates', (candidate) => this.#repairCandidate(candidate));
  }

  #repairCandidate(candidate: JsonValue): JsonValue {
    const { content, index = 0 }: GeminiCandidate = isJsonObject(candidate) ? candidate : {};
    const parts = readMember<GeminiContent>(content, 'parts');
    if (!isJsonObject(candidate) || !isJsonObject(content) || !Array.isArray(parts)) return candidate;
    const calls = this.#candidates.get(index) ?? new CandidateCalls();
    this.#candidates.set(index, calls);
    const repairedParts = parts.map((part) => calls.repairPart(part)).filter((part) => part !== undefined);
    return withMember(candidate, 'content', withMember(content, 'parts', keepIfSame(parts, repairedParts)));
  }
}

const contentMembers = [
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
] as const;

function mayNeedRepair({ error, response, candidates }: GeminiReply): boolean {
  return error !== undefined || response !== undefined || asList(candidates).some(hasCall);
}

function hasCall(candidate: JsonValue): boolean {
  const parts = readMember<GeminiContent>(readMember<GeminiCandidate>(candidate, 'content'), 'parts');
  return asList(parts).some((part) => readMember<GeminiPart>(part, 'functionCall') !== undefined);
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  return value === null || (isJsonObject(value) && !isFilled(value));
}

function parseExactly(text: string, body: JsonObject | undefined): JsonObject | undefined {
  // Inputs of calls must keep all digits of their numbers.
  return mayContainLongNumbers(text) ? parseBody(text) : body;
}

interface SentCall {
  readonly vendorId: string;
  readonly id: string;
  readonly name: string;
  /** Undefined if the arguments arrive in pieces. */
  input: string | undefined;
}

class CandidateCalls {
  readonly #ids = new UniqueIds();
  readonly #sentCalls: SentCall[] = [];
  #openCall: { readonly call: SentCall; readonly args: PartialArgs } | undefined;

  repairPart(received: JsonValue): JsonValue | undefined {
    const part = isJsonObject(received) ? this.#removeEmptyMembers(received) : received;
    const call: GeminiFunctionCall | undefined = readMember<GeminiPart>(part, 'functionCall') as
      | GeminiFunctionCall
      | undefined;
    if (!isJsonObject(part) || !isJsonObject(call)) return part;
    if (asText(call.name) === '') return this.#continueCall(part, call);
    this.#closeOpenCall();
    const vendorId = asText(call.id);
    if (vendorId === '') return part;
    const isWhole = isJsonObject(call.args) || (call.willContinue !== true && call.partialArgs === undefined);
    const input = isWhole ? normalizeInput(JSON.stringify(call.args ?? {})) : undefined;
    const name = asText(call.name);
    if (input !== undefined && this.#hasSent(vendorId, name, input)) return undefined;
    const sentCall: SentCall = { vendorId, id: this.#ids.add(vendorId), name, input };
    this.#sentCalls.push(sentCall);
    if (!isWhole) this.#addPieces(call, { call: sentCall, args: new PartialArgs() });
    return setId(part, call, sentCall.id);
  }

  #hasSent(vendorId: string, name: string, input: string): boolean {
    return this.#sentCalls.some((call) => call.vendorId === vendorId && call.name === name && call.input === input);
  }

  #removeEmptyMembers(part: GeminiPart): JsonObject {
    // Clients recognize content by the mere presence of its member. An empty call may end an open call.
    const emptyNames = contentMembers.filter(
      (name) => isEmptyObject(part[name]) && !(name === 'functionCall' && this.#openCall !== undefined),
    );
    const filledMembers = omitMembers(part, emptyNames);
    return Object.keys(filledMembers).length === 0 ? part : filledMembers;
  }

  #continueCall(part: JsonObject, call: GeminiFunctionCall): JsonValue {
    const openCall = this.#openCall;
    if (openCall === undefined) return part;
    this.#addPieces(call, openCall);
    return asText(call.id) === '' ? part : setId(part, call, openCall.call.id);
  }

  #addPieces(call: GeminiFunctionCall, openCall: { readonly call: SentCall; readonly args: PartialArgs }): void {
    this.#openCall = openCall;
    openCall.args.add(call.partialArgs);
    if (call.willContinue !== true) this.#closeOpenCall();
  }

  #closeOpenCall(): void {
    if (this.#openCall !== undefined) this.#openCall.call.input = normalizeInput(this.#openCall.args.text);
    this.#openCall = undefined;
  }
}

function setId(part: GeminiPart, call: GeminiFunctionCall, id: string): JsonObject {
  return call.id === id ? part : { ...part, functionCall: { ...call, id } };
}
