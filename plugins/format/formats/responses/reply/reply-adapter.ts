import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { tagState } from '../../../canonical/opaque-state.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import { readMember, scalarToText } from '../../../wire/members.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesReply } from '../../../wire/responses.ts';
import {
  type AnsweredRequest,
  completeUsage,
  hasTokenCounts,
  type ReplyAdapter,
  replaceDataInText,
  tagMember,
  readEventType,
  addEventName,
} from '../../contract/pass-through.ts';
import { responseEvents, writeUsage } from './reply-object.ts';

const totalPattern = /"total_tokens"\s*:\s*\d/;
const nullPreviousIdPattern = /("previous_response_id"\s*:\s*)null/g;
const responseObjectPattern = /"object"\s*:\s*"response"/;

/**
 * Adapts Responses replies. Adds the id of the continued response, which the upstream does not know because the gateway sent it that
 * response's items instead.
 */
export class ResponsesReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #tag: string;
  readonly #previousId: string | undefined;

  constructor(request: AnsweredRequest, origin: string) {
    this.meter = new UsageMeter(request);
    this.#tag = tagState({ kind: 'encrypted', origin, data: '' });
    this.#previousId = request.previousId;
  }

  adaptEvent(event: StreamEvent, reportedUsage?: Usage): string {
    const text = addEventName(event);
    const type = scalarToText(readEventType(event));
    if (type.endsWith('.delta')) this.meter.addDelta(event);
    if (!responseEvents.has(type)) return this.#tagText(text);
    const isEnding = type === 'response.completed' || type === 'response.incomplete';
    return this.#adaptText(isEnding ? this.#completeEnding(event, text, reportedUsage) : text);
  }

  adaptReply(text: string, body: ResponsesReply, reportedUsage?: Usage): string {
    const isComplete = hasCounts(text, reportedUsage) && hasDetails(body);
    return this.#adaptText(isComplete ? text : JSON.stringify(this.#addUsage(body, reportedUsage)));
  }

  adaptFinishedReply(response: ResponsesReply, reportedUsage?: Usage): ResponsesReply {
    const { output } = response;
    const taggedResponse = {
      ...response,
      ...(Array.isArray(output) && { output: output.map((item) => this.#tagItem(item)) }),
    };
    const linkedResponse =
      this.#previousId === undefined ? taggedResponse : { ...taggedResponse, previous_response_id: this.#previousId };
    const isComplete = hasCounts(JSON.stringify(response.usage), reportedUsage) && hasDetails(response);
    return isComplete ? linkedResponse : this.#addUsage(linkedResponse, reportedUsage);
  }

  adaptFailure(text: string): string {
    return this.#adaptText(text);
  }

  #completeEnding(event: StreamEvent, text: string, reportedUsage: Usage | undefined): string {
    const ending: ResponsesEvent = event.parse() ?? {};
    const { response } = ending;
    if (!isJsonObject(response) || (hasCounts(text, reportedUsage) && hasDetails(response))) return text;
    return replaceDataInText(text, { ...ending, response: this.#addUsage(response, reportedUsage) });
  }

  #addUsage(response: ResponsesReply, reportedUsage: Usage | undefined): ResponsesReply {
    if (hasCounts(JSON.stringify(response.usage), reportedUsage))
      return { ...response, usage: completeDetails(response.usage) };
    // Without counts OpenCode repeats the request endlessly; Codex does so without the total.
    this.meter.addWhole(response);
    const usage = writeUsage(this.meter.complete(reportedUsage, true));
    return { ...response, usage: completeDetails(completeUsage(response.usage, usage)) };
  }

  #tagItem(item: JsonValue): JsonValue {
    const state = readMember<ResponsesItem>(item, 'encrypted_content');
    return typeof state === 'string' && state !== ''
      ? { ...(item as JsonObject), encrypted_content: this.#tag + state }
      : item;
  }

  #tagText(text: string): string {
    return tagMember(text, 'encrypted_content', this.#tag);
  }

  #adaptText(text: string): string {
    const tagged = this.#tagText(text);
    return this.#previousId === undefined ? tagged : insertPreviousId(tagged, JSON.stringify(this.#previousId));
  }
}

/**
 * Counts that usage details must have. If one is missing, Codex aborts the turn, and LiveKit raises after the answer. Both accept
 * missing details.
 */
const requiredDetails = {
  input_tokens_details: ['cached_tokens', 'cache_write_tokens'],
  output_tokens_details: ['reasoning_tokens'],
} as const;

function hasDetails({ usage }: ResponsesReply): boolean {
  return !isJsonObject(usage) || completeDetails(usage) === usage;
}

function completeDetails(usage: JsonValue | undefined): JsonValue {
  if (!isJsonObject(usage)) return usage ?? null;
  const completedDetails = Object.entries(requiredDetails).flatMap(([name, counts]) => {
    const details = usage[name];
    if (!isJsonObject(details)) return [];
    const missingCounts = counts.filter((count) => typeof details[count] !== 'number');
    if (missingCounts.length === 0) return [];
    return [[name, { ...details, ...Object.fromEntries(missingCounts.map((count) => [count, 0])) }]];
  });
  if (completedDetails.length === 0) return usage;
  return { ...usage, ...Object.fromEntries(completedDetails) };
}

function hasCounts(text: string | undefined, reportedUsage: Usage | undefined): boolean {
  return hasTokenCounts(reportedUsage) && text !== undefined && totalPattern.test(text);
}

function insertPreviousId(text: string, id: string): string {
  // Quotes inside strings are escaped, so they do not match.
  if (text.includes('"previous_response_id"')) {
    return text.replaceAll(nullPreviousIdPattern, (_, name: string) => name + id);
  }
  return text.replace(responseObjectPattern, (object) => `${object},"previous_response_id":${id}`);
}
