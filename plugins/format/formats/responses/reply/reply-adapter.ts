import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { member, scalarText } from '../../../wire/members.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { tagState } from '../../../canonical/opaque-state.ts';
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
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import { responseEvents, writeUsage } from './reply-object.ts';
import type { ResponsesEvent, ResponsesItem, ResponsesReply } from '../../../wire/responses.ts';

const total = /"total_tokens"\s*:\s*\d/;
const noPreviousId = /("previous_response_id"\s*:\s*)null/g;
const responseStart = /"object"\s*:\s*"response"/;

/**
 * Adapts Responses replies. Adds the id of the continued response: the upstream does not know the id, because the
 * gateway sent the items instead.
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

  adaptEvent(event: StreamEvent, counted?: Usage): string {
    const text = addEventName(event);
    const type = scalarText(readEventType(event));
    if (type.endsWith('.delta')) this.meter.delta(event);
    if (!responseEvents.has(type)) return this.#tagged(text);
    const isEnding = type === 'response.completed' || type === 'response.incomplete';
    return this.#written(isEnding ? this.#ending(event, text, counted) : text);
  }

  adaptReply(text: string, body: ResponsesReply, counted?: Usage): string {
    const isWhole = hasCounts(text, counted) && hasDetails(body);
    return this.#written(isWhole ? text : JSON.stringify(this.#withUsage(body, counted)));
  }

  adaptFinishedReply(response: ResponsesReply, counted?: Usage): ResponsesReply {
    const { output } = response;
    const tagged = { ...response, ...(Array.isArray(output) && { output: output.map((item) => this.#tagItem(item)) }) };
    const named = this.#previousId === undefined ? tagged : { ...tagged, previous_response_id: this.#previousId };
    const isWhole = hasCounts(JSON.stringify(response.usage), counted) && hasDetails(response);
    return isWhole ? named : this.#withUsage(named, counted);
  }

  adaptFailure(text: string): string {
    return this.#written(text);
  }

  #ending(event: StreamEvent, text: string, counted: Usage | undefined): string {
    const ending: ResponsesEvent = event.parse() ?? {};
    const { response } = ending;
    if (!isJsonObject(response) || (hasCounts(text, counted) && hasDetails(response))) return text;
    return replaceDataInText(text, { ...ending, response: this.#withUsage(response, counted) });
  }

  /** Without counts OpenCode repeats the request endlessly; Codex does so without the total. */
  #withUsage(response: ResponsesReply, counted: Usage | undefined): ResponsesReply {
    if (hasCounts(JSON.stringify(response.usage), counted)) return { ...response, usage: withDetails(response.usage) };
    this.meter.whole(response);
    const usage = writeUsage(this.meter.complete(counted, true));
    return { ...response, usage: withDetails(completeUsage(response.usage, usage)) };
  }

  #tagItem(item: JsonValue): JsonValue {
    const state = member<ResponsesItem>(item, 'encrypted_content');
    return typeof state === 'string' && state !== ''
      ? { ...(item as JsonObject), encrypted_content: this.#tag + state }
      : item;
  }

  #tagged(text: string): string {
    return tagMember(text, 'encrypted_content', this.#tag);
  }

  #written(text: string): string {
    const tagged = this.#tagged(text);
    return this.#previousId === undefined ? tagged : namePrevious(tagged, JSON.stringify(this.#previousId));
  }
}

/** Members that the details of a usage must have: Codex aborts the turn without them, although the details may be missing. */
const detailed = { input_tokens_details: 'cached_tokens', output_tokens_details: 'reasoning_tokens' } as const;

function hasDetails({ usage }: ResponsesReply): boolean {
  return !isJsonObject(usage) || withDetails(usage) === usage;
}

/** Adds missing counts to the details of a usage; returns the same object if none is missing. */
function withDetails(usage: JsonValue | undefined): JsonValue {
  if (!isJsonObject(usage)) return usage ?? null;
  const thin = Object.entries(detailed).filter(([name, count]) => {
    const details = usage[name];
    return isJsonObject(details) && typeof details[count] !== 'number';
  });
  if (thin.length === 0) return usage;
  const filled = thin.map(([name, count]) => [name, { ...(usage[name] as JsonObject), [count]: 0 }]);
  return { ...usage, ...Object.fromEntries(filled) };
}

function hasCounts(text: string | undefined, counted: Usage | undefined): boolean {
  return hasTokenCounts(counted) && text !== undefined && total.test(text);
}

/** Sets the id where the member is null or missing. Quotes inside strings are escaped and do not match. */
function namePrevious(text: string, id: string): string {
  if (text.includes('"previous_response_id"')) {
    return text.replaceAll(noPreviousId, (_, name: string) => name + id);
  }
  return text.replace(responseStart, (object) => `${object},"previous_response_id":${id}`);
}
