import type { Profile } from '#core/config/catalog/profile.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import { RepeatedDelta } from '../../../canonical/repeated-event.ts';
import {
  createErrorFragment,
  createFailureFragment,
  type FinishReason,
  type Fragment,
  isContent,
  toModelFragments,
  progress,
  readFailure,
  toTierFragments,
  toUsageFragments,
} from '../../../canonical/reply.ts';
import { asList, readMember, parseEventData, scalarToNumber } from '../../../wire/members.ts';
import type {
  ResponsesEvent,
  ResponsesIncompleteDetails,
  ResponsesReply,
  ResponsesTransformation,
} from '../../../wire/responses.ts';
import { readEventType } from '../../contract/pass-through.ts';
import { toSdkEventType } from './events.ts';
import { ItemFragments } from './read-output.ts';
import { withMembers } from './repair-item.ts';
import { RepairedOutput } from './repaired-output.ts';
import { isCutAtLimit, responseEvents, readResponse, readUsage } from './reply-object.ts';

const failedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['failed', 'cancelled']);
const unfinishedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['queued', 'in_progress']);
const endEvents: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
const finalEvents: ReadonlySet<string> = new Set([
  ...endEvents,
  'response.done',
  'response.failed',
  'response.cancelled',
]);
const responseLevelEvents: ReadonlySet<string> = new Set([...responseEvents, ...finalEvents]);

/** `whole` for a non-streaming reply, otherwise the event that ended the stream. */
type Ending = 'whole' | 'completed' | 'incomplete';

/**
 * Reads a Responses reply. The same text or input arrives up to three times: in deltas, when its part is done, and when its item is done.
 * Vendors may omit any of these, so their events are repaired first.
 *
 * Source: OpenAI API reference, "Responses streaming events".
 */
export class ResponsesDecoder implements ReplyDecoder {
  /** True for OpenAI itself, which reports whether a reply was cut off. */
  readonly #trustsStatus: boolean;
  readonly #output = new RepairedOutput();
  readonly #items = new ItemFragments();
  readonly #deltas = new RepeatedDelta();
  #nextNumber = 0;

  constructor(profile?: Profile) {
    this.#trustsStatus = profile === undefined || profile.quirks.betas;
  }

  /** Skips finished items, because they repeat their deltas. */
  skimEvent(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const name = readEventType(event);
    if (typeof name !== 'string' || !name.startsWith('response.')) return undefined;
    if (content !== undefined && name === 'response.output_item.done') return undefined;
    if (name.endsWith('.delta') || !responseLevelEvents.has(name)) return [];
    if (!endEvents.has(name)) return undefined;
    const { response }: ResponsesEvent = event.parse() ?? {};
    const isComplete = isJsonObject(response) && !hasFailed(response, 'completed');
    return isComplete ? this.#readEnd(response, name === 'response.incomplete') : undefined;
  }

  readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    // A caller that passes the event skims later events instead.
    if (event !== undefined) return this.#readEvent(name, data, event);
    const repeatedFragments = this.#deltas.read(name, data, this.#nextNumber);
    if (repeatedFragments === undefined) return this.#deltas.learn(name, data, this.#readEvent(name, data), readDelta);
    this.#nextNumber++;
    if (repeatedFragments[0].type !== 'progress') this.#output.lastText?.add(repeatedFragments[0].text);
    return repeatedFragments;
  }

  #readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    if (data.trim() === '[DONE]') return [{ type: 'end' }];
    const body = parseEventData(data, event);
    if (body === undefined) return readMalformed(name, data);
    const { type: dataType, sequence_number: number }: ResponsesEvent = body;
    const type = typeof dataType === 'string' ? dataType : name;
    const isOfFormat = type?.startsWith('response.') === true;
    const isError = name === 'error' || type === 'error' || (!isOfFormat && readFailure(body) !== undefined);
    if (isError) return [createErrorFragment(body)];
    this.#nextNumber = scalarToNumber(number) + 1;
    return this.#readEventOfType(type ?? '', body);
  }

  readWhole(body: JsonObject): Fragment[] {
    return this.#readFinalResponse(body, 'whole');
  }

  #readEventOfType(type: string, body: ResponsesEvent): Fragment[] {
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return [...readModel(body.response), ...readEarlyUsage(body.response)];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.#readFinalResponse(readResponse(body), type === 'response.incomplete' ? 'incomplete' : 'completed');
      case 'response.failed':
      case 'response.cancelled':
        return [...readUsageFragments(body.response), createErrorFragment(readResponse(body))];
      case 'response.output_item.added':
      case 'response.output_item.done':
        return this.#readRepaired(type, body);
      default:
        return this.#readContentEvent(type, body);
    }
  }

  #readContentEvent(type: string, body: ResponsesEvent): Fragment[] {
    const fragments = this.#readRepaired(toSdkEventType(type, body), body);
    // Events of the vendor's own tools count as progress; those that announce items and parts do not.
    const isProgress = type.startsWith('response.') && !type.endsWith('.added');
    return isProgress && !fragments.some(isContent) ? [...fragments, progress] : fragments;
  }

  #readRepaired(type: string, body: ResponsesEvent): Fragment[] {
    const events = this.#output.repairEvent(type, withMembers<ResponsesEvent>(body, { type }));
    return events.flatMap((event) => this.#items.read(event));
  }

  #readFinalResponse(response: ResponsesReply, ending: Ending): Fragment[] {
    const { output, status } = response;
    const items = asList(output);
    // Some vendors report an unfinished status although the answer is finished.
    const isEmpty = ending === 'whole' && unfinishedStatuses.has(status) && items.length === 0;
    if (isEmpty || hasFailed(response, ending)) return [...readUsageFragments(response), createErrorFragment(response)];
    if (ending === 'whole' && !Array.isArray(output))
      return [createErrorFragment({ message: 'an answer without output' })];
    const missingFragments = this.#output.completeOutput(items).flatMap((event) => this.#items.read(event, true));
    return [...missingFragments, ...readModel(response), ...this.#readEnd(response, ending === 'incomplete')];
  }

  #readEnd(response: ResponsesReply, isIncomplete: boolean): Fragment[] {
    return readEnd(response, isIncomplete || (!this.#trustsStatus && isCutAtLimit(response)));
  }
}

export function readDelta({ delta }: ResponsesEvent): JsonValue | undefined {
  return delta;
}

function readMalformed(name: string = '', data: string): Fragment[] {
  if (name === 'error') return [createErrorFragment({ message: data })];
  if (finalEvents.has(name)) return [createFailureFragment('upstream.reason.event_truncated')];
  const isItem = name.endsWith('.added') || name === 'response.output_item.done';
  return name.startsWith('response.') && !isItem && !responseLevelEvents.has(name) ? [progress] : [];
}

function hasFailed(response: ResponsesReply, ending: Ending): boolean {
  // If event and status both say `completed`, the text has been sent, so errors are ignored.
  if (ending !== 'whole' && response.status === 'completed') return false;
  return failedStatuses.has(response.status) || readFailure(response) !== undefined;
}

function readEnd(response: ResponsesReply, isTruncated: boolean): Fragment[] {
  return [
    ...noteWithheldReasoning(response),
    ...readUsageFragments(response),
    ...toTierFragments(response.service_tier),
    { type: 'finish', reason: selectFinishReason(response, isTruncated) },
    { type: 'end' },
  ];
}

function selectFinishReason(response: ResponsesReply, isTruncated: boolean): FinishReason {
  // Some vendors report a filtered response as completed.
  if (isFiltered(response)) return 'content_filter';
  return isTruncated || response.status === 'incomplete' ? 'length' : 'stop';
}

function noteWithheldReasoning(response: ResponsesReply): Fragment[] {
  // Upstreams always withhold reasoning at a turn boundary.
  return asList(response.input_transformations).some(
    (transformation) => readMember<ResponsesTransformation>(transformation, 'reason') !== 'turn_boundary',
  )
    ? [{ type: 'dropped', feature: 'request reasoning at the upstream' }]
    : [];
}

function readModel(response: JsonValue | undefined): Fragment[] {
  return toModelFragments(readMember<ResponsesReply>(response, 'model'));
}

function readUsageFragments(response: JsonValue | undefined): Fragment[] {
  return toUsageFragments(readUsage(readMember<ResponsesReply>(response, 'usage')));
}

function readEarlyUsage(response: JsonValue | undefined): Fragment[] {
  const { input, cacheRead, cacheWrite } = readUsage(readMember<ResponsesReply>(response, 'usage')) ?? {};
  // There is no output yet, and a zero means that the prompt was not counted.
  return input === undefined || input === 0 ? [] : toUsageFragments({ input, cacheRead, cacheWrite });
}

function isFiltered({ incomplete_details: details }: ResponsesReply): boolean {
  return readMember<ResponsesIncompleteDetails>(details, 'reason') === 'content_filter';
}
