import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { ResponsesReplyRepair } from '../../formats/responses/repair/reply-repair.ts';
import { nextNumber, secondNumber } from './run-rows.ts';
import type { ResponsesEvent, ResponsesReply } from '../../wire/responses.ts';

/** A streamed event. */
export interface WrittenEvent {
  readonly type: string;
  readonly text: string;
  /** Undefined for an event without a sequence number. */
  readonly sequence: number | undefined;
}

const eventEnd = /(?<=\n\n)/;
const typeOf = /^event: *(.+)$/m;
const dataOf = /^data: *(.*)$/m;
const sequenceOf = /"sequence_number" *: *(-?\d+)/g;
const endings = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Splits a chunk that consists of whole events; comments are skipped. */
export function eventsIn(chunk: string): WrittenEvent[] {
  return chunk.split(eventEnd).flatMap((text) => {
    const [, type] = typeOf.exec(text) ?? [];
    const [, data] = dataOf.exec(text) ?? [];
    if (type === undefined || data === undefined) return [];
    return [{ type, text, sequence: numberIn(data) }];
  });
}

/** The sequence number of an event. The member name may also occur in the input of a tool call. */
function numberIn(data: string): number | undefined {
  const [found, ...others] = [...data.matchAll(sequenceOf)].map(([, digits]) => Number(digits));
  if (others.length === 0) return found;
  const { sequence_number: number }: ResponsesEvent = parseObject(data) ?? {};
  return typeof number === 'number' ? number : undefined;
}

/** Whether the event ends a stream. An error event is followed by such an event. */
export function isEnding({ type }: WrittenEvent): boolean {
  return endings.has(type);
}

/** The response object in an event; undefined for an event about a part of the response. */
export function responseIn({ type, text }: WrittenEvent): JsonObject | undefined {
  if (!/^response\.[a-z_]+$/.test(type)) return undefined;
  const { response }: ResponsesEvent = parseObject(dataOf.exec(text)?.[1] ?? '') ?? {};
  return isJsonObject(response) ? response : undefined;
}

export function writeEvent(type: string, response: JsonObject, sequence: number = nextNumber): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, response })}\n\n`;
}

export function endingOf(response: JsonObject, sequence?: number): string {
  const { status } = response;
  const type = status === 'completed' || status === 'incomplete' ? status : 'failed';
  return writeEvent(`response.${type}`, response, sequence);
}

/**
 * The events that end the stream of a response. A failed response ends with an error and the response object, in the form of
 * `renderResponseFailed`.
 *
 * @param first sequence number of the first event
 */
export function endingsOf(response: JsonObject, first: number = nextNumber): string {
  const { error, status }: ResponsesReply = response;
  if (status !== 'failed' || !isJsonObject(error)) return endingOf(response, first);
  const second = first === nextNumber ? secondNumber : first + 1;
  return writeError(error, first) + endingOf(response, second);
}

function writeError({ code, message, type }: JsonObject, sequence: number): string {
  const kind = typeof type === 'string' ? type : code === 'server_error' ? code : 'invalid_request_error';
  const error = { type: kind, code: code ?? null, message: message ?? '', param: null };
  return `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: sequence, error })}\n\n`;
}

/** Recreates all events of an ended response, for streams whose events are not stored. */
export function eventsOf(response: JsonObject): WrittenEvent[] {
  const context = {
    id: String(response['id']).replace(/^resp_/, ''),
    model: String(response['model']),
    created: Number(response['created_at']),
    request: {},
  };
  const text = endingOf(response, 0);
  const [{ type }] = eventsIn(text) as [WrittenEvent];
  const data = text.slice(text.indexOf('data: ') + 6).trimEnd();
  const ending = new StreamEvent({ name: type, data }, text, Buffer.from(text));
  const events = new ResponsesReplyRepair(context, true).repairEvent(ending).flatMap((event) => eventsIn(event.text));
  if (type !== 'response.failed') return events;
  return [...events.slice(0, -1), ...eventsIn(endingsOf(response, events.length - 1))];
}
