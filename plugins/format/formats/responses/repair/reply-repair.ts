import type { Usage } from '#core/gateway/facts.ts';
import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { Notes } from '../../../canonical/notes.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import { removeOtherTier } from '../../../canonical/service-tier.ts';
import { ContentDigest } from '../../../content/content-digest.ts';
import { asList, keepIfSame, scalarToText, withoutUndefined } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesReply, ResponsesRequest } from '../../../wire/responses.ts';
import type { ReplyRepair } from '../../contract/pass-through.ts';
import { readDelta, ResponsesDecoder } from '../reply/decode-reply.ts';
import { EventNumbers, toSdkEventType, isKnownEvent } from '../reply/events.ts';
import { textOr, withMembers } from '../reply/repair-item.ts';
import { RepairedOutput } from '../reply/repaired-output.ts';
import {
  isCutAtLimit,
  renderResponseFailed,
  createResponseId,
  readResponse,
  writeUsage,
} from '../reply/reply-object.ts';
import type { GrowingText } from '../reply/streamed-item.ts';
import { repairResponse, repairReply } from './repair-response.ts';

const startEventTypes = new Set(['response.created', 'response.queued', 'response.in_progress']);
const limitDetails = { reason: 'max_output_tokens' };
const endStatuses = { 'response.completed': 'completed', 'response.incomplete': 'incomplete' } as const;

/**
 * Repairs the replies of endpoints that imitate Responses: they omit events, or the ids, indexes and numbers of items, do not repeat the
 * output at the end, or send nonstandard events. Codex needs `output_item.done`, OpenCode needs the events before it, and the openai SDK
 * throws on unknown events.
 *
 * A clean stream passes unchanged. Source: OpenAI API reference, "Responses streaming events"; openai 7.55, `ResponseAccumulator`.
 */
export class ResponsesReplyRepair implements ReplyRepair {
  /** The events report failures themselves. */
  readonly failure = undefined;
  readonly #context: ReplyContext;
  readonly #keepsUnknown: boolean;
  readonly #notes = new Notes();
  readonly #numbers = new EventNumbers();
  readonly #repeatedEvent = new RepeatedEvent();
  #repeatedText: GrowingText | undefined;
  readonly #output: RepairedOutput;
  finishedReply: JsonObject | undefined;
  #lastSentResponse: ResponsesReply = {};
  #failedResponse: ResponsesReply | undefined;
  /** Undefined until it has been sent to the client. */
  #responseId: string | undefined;
  #hasEnded = false;
  held = 0;

  /** @param keepsUnknown true for OpenAI itself, because clients may support its new events and service tiers */
  constructor(context: ReplyContext, keepsUnknown: boolean) {
    this.#context = context;
    this.#keepsUnknown = keepsUnknown;
    this.#output = new RepairedOutput(context.id);
  }

  get notes(): readonly string[] {
    return this.#notes.entries;
  }

  repairReply(body: JsonObject): JsonObject {
    const reply = this.#isCutAtLimit(body) ? { ...body, status: 'incomplete', incomplete_details: limitDetails } : body;
    return (this.finishedReply = repairReply(this.#adaptTier(reply), this.#context));
  }

  readUnfinishedContent(): ContentDigest {
    const content = new ContentDigest();
    const decoder = new ResponsesDecoder();
    for (const fragment of decoder.readWhole({ status: 'completed', output: this.#output.writePartialOutput() }))
      content.addFragment(fragment);
    return content;
  }

  /** Renders an error with the response so far, including open items. It replaces the upstream's own failure. */
  renderFailure(error: GatewayError, usage: Usage | undefined): string {
    const output = asList(this.#failedResponse?.output);
    const response: ResponsesReply = {
      ...this.#lastSentResponse,
      output: output.length > 0 ? [...output] : this.#output.writePartialOutput(),
      usage: usage === undefined ? null : writeUsage(usage),
    };
    const number = this.#failedResponse === undefined ? this.#numbers.nextNumber : this.#numbers.nextNumber - 1;
    return renderResponseFailed(error, createResponseId(this.#context), number, response);
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const { expectedNumber } = this.#numbers;
    const text =
      expectedNumber === undefined ? undefined : this.#repeatedEvent.read(event.name, event.data ?? '', expectedNumber);
    if (text !== undefined) {
      this.#numbers.pass(expectedNumber);
      this.#repeatedText?.add(text);
      this.held += text.length;
      return [event];
    }
    const data = event.parse();
    if (data === undefined) return this.#hasEnded ? [event] : [...this.#endAtDone(event), event];
    const { type: dataType }: ResponsesEvent = data;
    const vendorType = typeof dataType === 'string' ? dataType : event.name;
    if (vendorType === undefined || vendorType === 'error') return [event];
    if (!vendorType.startsWith('response.') && readReportedError(data) !== undefined) return [renameToError(event)];
    const type = toSdkEventType(vendorType, data);
    if (!isKnownEvent(type)) return this.#handleUnknown(event, type, data);
    // Items are kept in their opening and final forms, parts only as text.
    const { delta } = data;
    if (typeof delta === 'string') this.held += delta.length;
    else if (type.startsWith('response.output_item')) this.held += event.data?.length ?? 0;
    const typedData = withMembers<ResponsesEvent>(data, { type });
    const drafts = this.#repairEvent(type, typedData);
    const isClean = drafts.length === 1 && drafts[0] === data && (event.name ?? type) === type;
    const events = this.#writeEvents(drafts, data, isClean ? event : undefined);
    if (events[0] === event && this.#output.lastText !== undefined) this.#learnEvent(event, scalarToText(delta));
    return events;
  }

  #handleUnknown(event: StreamEvent, type: string, data: ResponsesEvent): readonly StreamEvent[] {
    if (this.#keepsUnknown) {
      this.#numbers.pass(data.sequence_number);
      return [event];
    }
    this.#numbers.skip();
    this.#notes.drop(`event ${type}`);
    return [];
  }

  #repairEvent(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    if (startEventTypes.has(type)) return this.#repairStart(type, data);
    if (type === 'keepalive') return this.#responseId === undefined ? [] : [data];
    const openingEvents = this.#responseId === undefined ? this.#writeMissingStart(type, data) : [];
    if (type === 'response.failed') return [...openingEvents, this.#repairFailure(data)];
    if (type === 'response.completed' || type === 'response.incomplete')
      return [...openingEvents, ...this.#repairEnd(type, data)];
    return [...openingEvents, ...this.#output.repairEvent(type, data)];
  }

  #repairFailure(data: ResponsesEvent): ResponsesEvent {
    this.#failedResponse = readResponse(data);
    const { response } = data;
    return isJsonObject(response) ? withMembers(data, { response: this.#adaptTier(response) }) : data;
  }

  #adaptTier(response: ResponsesReply): ResponsesReply {
    return this.#keepsUnknown ? response : removeOtherTier(response);
  }

  #repairStart(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    const isFirst = this.#responseId === undefined;
    // A second `response.created` would make the client discard the content that it has collected.
    if (!isFirst && type === 'response.created') return [];
    const response = (this.#lastSentResponse = this.#repairResponse(data.response, 'in_progress', []));
    const startEvent = withMembers(data, { response });
    return isFirst && type !== 'response.created' ? [{ type: 'response.created', response }, startEvent] : [startEvent];
  }

  #writeMissingStart(type: string, data: ResponsesEvent): readonly ResponsesEvent[] {
    const { id, model, created_at } = Object.hasOwn(endStatuses, type) ? readResponse(data) : {};
    const response = (this.#lastSentResponse = this.#repairResponse(
      withoutUndefined({ id, model, created_at }),
      'in_progress',
      [],
    ));
    return ['response.created', 'response.in_progress'].map((name) => ({ type: name, response }));
  }

  #isCutAtLimit(response: ResponsesReply): boolean {
    const { max_output_tokens: limit }: ResponsesRequest = this.#context.outline ?? this.#context.request;
    return !this.#keepsUnknown && isCutAtLimit(response, limit);
  }

  #repairEnd(vendorType: keyof typeof endStatuses, data: ResponsesEvent): readonly ResponsesEvent[] {
    this.#hasEnded = true;
    const reportedResponse = readResponse(data);
    const isCut = this.#isCutAtLimit(reportedResponse);
    const type = isCut ? 'response.incomplete' : vendorType;
    const vendorResponse: ResponsesReply = isCut
      ? { ...reportedResponse, status: 'incomplete', incomplete_details: limitDetails }
      : reportedResponse;
    const events = [
      ...this.#output.completeOutput(asList(vendorResponse.output)),
      ...this.#output.closeItems(endStatuses[type]),
    ];
    const response = (this.finishedReply = this.#repairResponse(
      vendorResponse,
      endStatuses[type],
      this.#output.writePartialOutput(),
    ));
    const ending: ResponsesEvent =
      reportedResponse === data ? { type, response } : withMembers(data, { type, response });
    return [...events, ending];
  }

  #endAtDone(event: StreamEvent): readonly StreamEvent[] {
    // Some vendors end the stream with Chat's `[DONE]`.
    if (this.#output.isEmpty || event.data?.trim() !== '[DONE]') return [];
    const type = 'response.completed';
    return this.#writeEvents(this.#repairEnd(type, { type, response: {} }), {});
  }

  #repairResponse(
    vendorResponse: JsonValue | undefined,
    status: 'in_progress' | 'completed' | 'incomplete',
    output: JsonValue[],
  ): ResponsesReply {
    const response = this.#adaptTier(isJsonObject(vendorResponse) ? vendorResponse : {});
    this.#responseId ??= textOr(response.id, createResponseId(this.#context));
    return repairResponse(response, status, keepIfSame(response.output, output), this.#responseId, this.#context);
  }

  /** @param cleanEvent the upstream's event, if at most its number must change */
  #writeEvents(
    drafts: readonly ResponsesEvent[],
    vendorEvent: ResponsesEvent,
    cleanEvent?: StreamEvent,
  ): readonly StreamEvent[] {
    const { sequence_number: number } = vendorEvent;
    if (drafts.length === 0) this.#numbers.skip();
    const numberedIndex =
      number === undefined ? -1 : drafts.findLastIndex((draft) => draft.sequence_number !== undefined);
    return drafts.map((draft, index) => {
      const nextNumber = index === numberedIndex ? this.#numbers.pass(number) : this.#numbers.insert();
      return cleanEvent !== undefined && nextNumber === number
        ? cleanEvent
        : writeEvent({ ...draft, sequence_number: nextNumber });
    });
  }

  #learnEvent({ name, data = '' }: StreamEvent, text: string): void {
    this.#repeatedText = this.#output.lastText;
    this.#repeatedEvent.learn(name, data, text, readDelta);
  }
}

function renameToError({ data = '', text }: StreamEvent): StreamEvent {
  return new StreamEvent({ name: 'error', data }, text, Buffer.from(text));
}

function writeEvent(data: ResponsesEvent): StreamEvent {
  const type = scalarToText(data.type);
  const json = JSON.stringify(data);
  const text = `event: ${type}\ndata: ${json}\n\n`;
  return new StreamEvent({ name: type, data: json }, text, Buffer.from(text));
}
