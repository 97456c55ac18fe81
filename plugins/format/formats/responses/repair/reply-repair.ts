import type { Usage } from '#core/gateway/facts.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { ContentDigest } from '../../../content/content-digest.ts';
import { Notes } from '../../../canonical/notes.ts';
import { withoutOtherTier } from '../../../canonical/service-tier.ts';
import { asList, sameOr, scalarText, withoutUnset } from '../../../wire/members.ts';
import type { ReplyRepair } from '../../contract/pass-through.ts';
import { ResponsesDecoder } from '../reply/decode-reply.ts';
import { renderResponseFailed, responseId, responseIn, writeUsage } from '../reply/reply-object.ts';
import { DeltaTemplate } from '../reply/delta-template.ts';
import { EventNumbers, eventType, isKnownEvent } from '../reply/events.ts';
import { textOr, withMembers } from '../reply/repair-item.ts';
import { repairResponse, repairWhole } from './repair-response.ts';
import { RepairedOutput } from '../reply/repaired-output.ts';
import type { ResponsesEvent, ResponsesReply } from '../../../wire/responses.ts';

const begins = new Set(['response.created', 'response.queued', 'response.in_progress']);
const endings = { 'response.completed': 'completed', 'response.incomplete': 'incomplete' } as const;

/**
 * Repairs replies of endpoints that imitate Responses: they omit items' events, ids, indexes and numbers, do not repeat the
 * output at the end, or send nonstandard events. Codex needs `output_item.done`, OpenCode needs the events before it, and the
 * openai SDK throws on unknown events.
 *
 * A clean stream passes unchanged. Source: OpenAI API reference, "Responses streaming events"; openai 7.55,
 * `ResponseAccumulator`.
 */
export class ResponsesReplyRepair implements ReplyRepair {
  /** Failures are reported by the events themselves. */
  readonly failure = undefined;
  readonly #context: ReplyContext;
  readonly #keepsUnknown: boolean;
  readonly #notes = new Notes();
  readonly #numbers = new EventNumbers();
  readonly #template = new DeltaTemplate();
  readonly #output: RepairedOutput;
  finishedReply: JsonObject | undefined;
  /** The response as last sent to the client. */
  #begun: ResponsesReply = {};
  /** The failed response as reported by the upstream. */
  #failed: ResponsesReply | undefined;
  /** Id of the response; undefined until sent to the client. */
  #id: string | undefined;
  #isOver = false;
  /** Number of characters kept, not counting texts that the template took. */
  #held = 0;

  /** @param keepsUnknown true for OpenAI itself, whose new events and service tiers clients may know */
  constructor(context: ReplyContext, keepsUnknown: boolean) {
    this.#context = context;
    this.#keepsUnknown = keepsUnknown;
    this.#output = new RepairedOutput(context.id);
  }

  get notes(): readonly string[] {
    return this.#notes.entries;
  }

  get held(): number {
    return this.#held + this.#template.taken;
  }

  repairReply(body: JsonObject): JsonObject {
    return (this.finishedReply = repairWhole(this.#tiered(body), this.#context));
  }

  readUnfinishedContent(): ContentDigest {
    const content = new ContentDigest();
    const decoder = new ResponsesDecoder();
    for (const fragment of decoder.whole({ status: 'completed', output: this.#output.soFar })) content.take(fragment);
    return content;
  }

  /** Repeats the response so far, including open items. The upstream's own failure is not passed on. */
  renderFailure(error: GatewayError, usage: Usage | undefined): string {
    const output = asList(this.#failed?.output);
    const response: ResponsesReply = {
      ...this.#begun,
      output: output.length > 0 ? [...output] : this.#output.soFar,
      usage: usage === undefined ? null : writeUsage(usage),
    };
    const number = this.#failed === undefined ? this.#numbers.next : this.#numbers.next - 1;
    return renderResponseFailed(error, responseId(this.#context), number, response);
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const { expected } = this.#numbers;
    if (this.#template.read(event, expected) !== undefined) {
      this.#numbers.pass(expected);
      return [event];
    }
    const data = event.parse();
    if (data === undefined) return this.#isOver ? [event] : [...this.#endMark(event), event];
    const { type: own }: ResponsesEvent = data;
    const given = typeof own === 'string' ? own : event.name;
    if (given === undefined || given === 'error') return [event];
    if (!given.startsWith('response.') && readReportedError(data) !== undefined) return [asError(event)];
    const type = eventType(given, data);
    if (!isKnownEvent(type)) return this.#unknown(event, type, data);
    // Items are kept in their opening and final forms, parts only by their text.
    const { delta } = data;
    if (typeof delta === 'string') this.#held += delta.length;
    else if (type.startsWith('response.output_item')) this.#held += event.data?.length ?? 0;
    const typed = withMembers<ResponsesEvent>(data, { type });
    const drafts = this.#repaired(type, typed);
    const isClean = drafts.length === 1 && drafts[0] === data && (event.name ?? type) === type;
    const written = this.#write(drafts, data, isClean ? event : undefined);
    if (written[0] === event) this.#learn(event);
    return written;
  }

  #unknown(event: StreamEvent, type: string, data: ResponsesEvent): readonly StreamEvent[] {
    if (this.#keepsUnknown) {
      this.#numbers.pass(data.sequence_number);
      return [event];
    }
    this.#numbers.skip();
    this.#notes.drop(`event ${type}`);
    return [];
  }

  /** The events that the client gets for an upstream event; without numbers if the upstream sent none. */
  #repaired(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    if (begins.has(type)) return this.#begin(type, data);
    if (type === 'keepalive') return this.#id === undefined ? [] : [data];
    const begun = this.#id === undefined ? this.#announce(type, data) : [];
    if (type === 'response.failed') return [...begun, this.#fail(data)];
    if (type === 'response.completed' || type === 'response.incomplete') return [...begun, ...this.#end(type, data)];
    return [...begun, ...this.#output.event(type, data)];
  }

  #fail(data: ResponsesEvent): ResponsesEvent {
    this.#failed = responseIn(data);
    const { response } = data;
    return isJsonObject(response) ? withMembers(data, { response: this.#tiered(response) }) : data;
  }

  #tiered(response: ResponsesReply): ResponsesReply {
    return this.#keepsUnknown ? response : withoutOtherTier(response);
  }

  #begin(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    const isFirst = this.#id === undefined;
    // A second `response.created` would discard the content that the client has collected.
    if (!isFirst && type === 'response.created') return [];
    const response = (this.#begun = this.#response(data.response, 'in_progress', []));
    const begun = withMembers(data, { response });
    return isFirst && type !== 'response.created' ? [{ type: 'response.created', response }, begun] : [begun];
  }

  /** Opens a stream that lacks its first events. */
  #announce(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    const { id, model, created_at } = Object.hasOwn(endings, type) ? responseIn(data) : {};
    const response = (this.#begun = this.#response(withoutUnset({ id, model, created_at }), 'in_progress', []));
    return ['response.created', 'response.in_progress'].map((name) => ({ type: name, response }));
  }

  #end(type: keyof typeof endings, data: ResponsesEvent): readonly ResponsesEvent[] {
    this.#isOver = true;
    const given = responseIn(data);
    const events = [...this.#output.repeat(asList(given.output)), ...this.#output.close(endings[type])];
    const response = (this.finishedReply = this.#response(given, endings[type], this.#output.soFar));
    const ending: ResponsesEvent = given === data ? { type, response } : withMembers(data, { response });
    return [...events, ending];
  }

  /** Some vendors end their streams with the `[DONE]` of Chat. */
  #endMark(event: StreamEvent): readonly StreamEvent[] {
    if (this.#output.isEmpty || event.data?.trim() !== '[DONE]') return [];
    const type = 'response.completed';
    return this.#write(this.#end(type, { type, response: {} }), {});
  }

  #response(
    given: JsonValue | undefined,
    status: 'in_progress' | 'completed' | 'incomplete',
    output: JsonValue[],
  ): ResponsesReply {
    const response = this.#tiered(isJsonObject(given) ? given : {});
    this.#id ??= textOr(response.id, responseId(this.#context));
    return repairResponse(response, status, sameOr(response.output, output), this.#id, this.#context);
  }

  /** @param clean the upstream's event, if at most its number must change */
  #write(drafts: readonly ResponsesEvent[], given: ResponsesEvent, clean?: StreamEvent): readonly StreamEvent[] {
    const { sequence_number: number } = given;
    if (drafts.length === 0) this.#numbers.skip();
    const own = number === undefined ? -1 : drafts.findLastIndex((draft) => draft.sequence_number !== undefined);
    return drafts.map((draft, index) => {
      const next = index === own ? this.#numbers.pass(number) : this.#numbers.insert();
      return clean !== undefined && next === number ? clean : writeEvent({ ...draft, sequence_number: next });
    });
  }

  #learn(event: StreamEvent): void {
    const { grown } = this.#output;
    if (grown !== undefined) this.#template.learn(event, grown);
  }
}

/** Renames an error event with a vendor's event name to the name that the format uses. */
function asError({ data = '', text }: StreamEvent): StreamEvent {
  return new StreamEvent({ name: 'error', data }, text, Buffer.from(text));
}

function writeEvent(data: ResponsesEvent): StreamEvent {
  const type = scalarText(data.type);
  const json = JSON.stringify(data);
  const text = `event: ${type}\ndata: ${json}\n\n`;
  return new StreamEvent({ name: type, data: json }, text, Buffer.from(text));
}
