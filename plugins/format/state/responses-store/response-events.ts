import { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { ResponsesReplyRepair } from '../../formats/responses/repair/reply-repair.ts';
import { readExchangeId } from '../../formats/responses/reply/reply-object.ts';
import type { ResponsesEvent, ResponsesReply } from '../../wire/responses.ts';
import { firstFinalSequence, secondFinalSequence } from './run-rows.ts';

export interface WrittenEvent {
  readonly type: string;
  readonly text: string;
  readonly sequence: number | undefined;
}

const eventEnd = /(?<=\n\n)/;
const typePattern = /^event: *(.+)$/m;
const dataPattern = /^data: *(.*)$/m;
const sequencePattern = /"sequence_number" *: *(-?\d+)/g;
const endTypes = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Parses a chunk of complete events and skips comments. */
export function parseEvents(chunk: string): WrittenEvent[] {
  return chunk.split(eventEnd).flatMap((text) => {
    const [, type] = typePattern.exec(text) ?? [];
    const [, data] = dataPattern.exec(text) ?? [];
    if (type === undefined || data === undefined) return [];
    return [{ type, text, sequence: readSequence(data) }];
  });
}

function readSequence(data: string): number | undefined {
  const [sequence, ...otherSequences] = [...data.matchAll(sequencePattern)].map(([, digits]) => Number(digits));
  // A member of this name may also occur in a tool call's input.
  if (otherSequences.length === 0) return sequence;
  const { sequence_number: number }: ResponsesEvent = parseObject(data) ?? {};
  return typeof number === 'number' ? number : undefined;
}

/** Returns true if the event ends a stream. An error event does not, because such an event follows it. */
export function isEnding({ type }: WrittenEvent): boolean {
  return endTypes.has(type);
}

/** Reads an event's response object; undefined for an event about a part of the response. */
export function readResponse({ type, text }: WrittenEvent): JsonObject | undefined {
  if (!/^response\.[a-z_]+$/.test(type)) return undefined;
  const { response }: ResponsesEvent = parseObject(dataPattern.exec(text)?.[1] ?? '') ?? {};
  return isJsonObject(response) ? response : undefined;
}

export function writeEvent(type: string, response: JsonObject, sequence: number = firstFinalSequence): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, response })}\n\n`;
}

export function writeEndEvent(response: JsonObject, sequence?: number): string {
  const { status } = response;
  const type = status === 'completed' || status === 'incomplete' ? status : 'failed';
  return writeEvent(`response.${type}`, response, sequence);
}

/**
 * Writes the events that end a response's stream. If it failed, they are an error and the response object, as in `renderResponseFailed`.
 *
 * @param firstSequence sequence number of the first event
 */
export function writeStreamEnd(response: JsonObject, firstSequence: number = firstFinalSequence): string {
  const { error, status }: ResponsesReply = response;
  if (status !== 'failed' || !isJsonObject(error)) return writeEndEvent(response, firstSequence);
  const secondSequence = firstSequence === firstFinalSequence ? secondFinalSequence : firstSequence + 1;
  return writeError(error, firstSequence) + writeEndEvent(response, secondSequence);
}

export function writeError({ code, message, type }: JsonObject, sequence: number): string {
  const defaultType = code === 'server_error' ? 'server_error' : 'invalid_request_error';
  const error = {
    type: typeof type === 'string' ? type : defaultType,
    code: code ?? null,
    message: message ?? '',
    param: null,
  };
  return `event: error\ndata: ${JSON.stringify({ type: 'error', sequence_number: sequence, error })}\n\n`;
}

export function recreateEvents(response: JsonObject): WrittenEvent[] {
  const context = {
    id: readExchangeId(String(response['id'])),
    model: String(response['model']),
    created: Number(response['created_at']),
    request: {},
  };
  const text = writeEndEvent(response, 0);
  const [{ type }] = parseEvents(text) as [WrittenEvent];
  const data = text.slice(text.indexOf('data: ') + 6).trimEnd();
  const endEvent = new StreamEvent({ name: type, data }, text, Buffer.from(text));
  const events = new ResponsesReplyRepair(context, true)
    .repairEvent(endEvent)
    .flatMap((event) => parseEvents(event.text));
  if (type !== 'response.failed') return events;
  return [...events.slice(0, -1), ...parseEvents(writeStreamEnd(response, events.length - 1))];
}
