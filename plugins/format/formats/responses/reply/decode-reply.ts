import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import {
  type DeltaFragment,
  failed,
  type Fragment,
  isContent,
  modelFragment,
  onlyDelta,
  progress,
  readFailure,
  tierFragment,
  usageFragment,
  withText,
} from '../../../canonical/reply.ts';
import { asList, member, readEvent, scalarNumber } from '../../../wire/members.ts';
import { DeltaTemplate } from './delta-template.ts';
import { eventType } from './events.ts';
import { ItemFragments } from './read-output.ts';
import { withMembers } from './repair-item.ts';
import { RepairedOutput } from './repaired-output.ts';
import { responseEvents, responseIn, responsesUsage } from './reply-object.ts';
import { readEventType } from '../../contract/pass-through.ts';
import type {
  ResponsesEvent,
  ResponsesIncompleteDetails,
  ResponsesReply,
  ResponsesTransformation,
} from '../../../wire/responses.ts';

const failedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['failed', 'cancelled']);
const unfinishedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['queued', 'in_progress']);
const endings: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
/** Events after which nothing follows. */
const last: ReadonlySet<string> = new Set([...endings, 'response.done', 'response.failed', 'response.cancelled']);
const ofResponse: ReadonlySet<string> = new Set([...responseEvents, ...last]);

/** Matches a delta with log probabilities. Quotes inside strings are escaped and do not match. */
const hasTokens = /"logprobs"\s*:\s*\[\s*[^\]\s]/;

/** How a reply ended: as a whole reply, or with this event of a stream. */
type Ending = 'whole' | 'completed' | 'incomplete';

/**
 * Reads a Responses reply. Texts and inputs arrive up to three times: in deltas, when a part is done and when its item
 * is done. Vendors leave out any of these, so their events are repaired first.
 *
 * Source: OpenAI API reference, "Responses streaming events".
 */
export class ResponsesDecoder implements ReplyDecoder {
  readonly #output = new RepairedOutput();
  readonly #items = new ItemFragments();
  readonly #template = new DeltaTemplate();
  /** The last event's only fragment, which the next event may continue, and the number of that event. */
  #said: DeltaFragment | undefined;
  #next = 0;
  #isNamed = false;

  /** Finished items repeat their deltas. */
  skim(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const name = readEventType(event);
    if (typeof name !== 'string' || !name.startsWith('response.')) return undefined;
    if (content !== undefined && name === 'response.output_item.done') return undefined;
    if (name.endsWith('.delta') || !ofResponse.has(name)) return [];
    if (!endings.has(name)) return undefined;
    const { response }: ResponsesEvent = event.parse() ?? {};
    const isComplete = isJsonObject(response) && !hasFailed(response, 'completed');
    return isComplete ? readEnd(response, name === 'response.incomplete') : undefined;
  }

  event(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const said = event === undefined ? this.#said : undefined;
    const isNext = said !== undefined && !hasTokens.test(data);
    const text = isNext ? this.#template.read({ name, data }, this.#next) : undefined;
    if (said === undefined || text === undefined) return this.#read(name, data, event);
    this.#next++;
    return text === '' ? [progress] : [withText(said, text)];
  }

  #read(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    this.#said = undefined;
    if (data.trim() === '[DONE]') return [{ type: 'end' }];
    const body = readEvent(data, event);
    if (body === undefined) return unreadable(name, data);
    const { type: own }: ResponsesEvent = body;
    const type = typeof own === 'string' ? own : name;
    if (
      name === 'error' ||
      type === 'error' ||
      (type?.startsWith('response.') !== true && readFailure(body) !== undefined)
    ) {
      return [failed(body)];
    }
    const fragments = this.#event(type ?? '', body);
    // A caller that passes the event skims later ones instead.
    if (event === undefined) this.#learn({ name, data }, body, fragments);
    return fragments;
  }

  #learn(event: Pick<StreamEvent, 'name' | 'data'>, body: ResponsesEvent, fragments: readonly Fragment[]): void {
    const { grown } = this.#output;
    this.#said = grown === undefined ? undefined : onlyDelta(fragments);
    if (grown === undefined || this.#said === undefined) return;
    this.#next = scalarNumber(body.sequence_number) + 1;
    this.#template.learn(event, grown);
  }

  whole(body: JsonObject): Fragment[] {
    return this.#end(body, 'whole');
  }

  #event(type: string, body: ResponsesEvent): Fragment[] {
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return [...this.#named(body.response), ...earlyUsageOf(body.response)];
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.#end(responseIn(body), type === 'response.incomplete' ? 'incomplete' : 'completed');
      case 'response.failed':
      case 'response.cancelled':
        return [...usageOf(body.response), failed(responseIn(body))];
      case 'response.output_item.added':
      case 'response.output_item.done':
        return this.#repaired(type, body);
      default:
        return this.#part(type, body);
    }
  }

  /** The vendor's own tools have events too. Events that only announce items and parts carry no content. */
  #part(type: string, body: ResponsesEvent): Fragment[] {
    const fragments = this.#repaired(eventType(type, body), body);
    const isMore = type.startsWith('response.') && !type.endsWith('.added');
    return isMore && !fragments.some(isContent) ? [...fragments, progress] : fragments;
  }

  #repaired(type: string, body: ResponsesEvent): Fragment[] {
    const events = this.#output.event(type, withMembers<ResponsesEvent>(body, { type }));
    return events.flatMap((event) => this.#items.read(event));
  }

  #named(response: JsonValue | undefined): Fragment[] {
    if (this.#isNamed) return [];
    const named = modelFragment(member<ResponsesReply>(response, 'model'));
    this.#isNamed = named.length > 0;
    return named;
  }

  /** The content of the final response that earlier events have not carried. */
  #end(response: ResponsesReply, ending: Ending): Fragment[] {
    const { output, status } = response;
    const items = asList(output);
    // Some vendors report an unfinished status for a finished answer.
    const isEmpty = ending === 'whole' && unfinishedStatuses.has(status) && items.length === 0;
    if (isEmpty || hasFailed(response, ending)) return [...usageOf(response), failed(response)];
    if (ending === 'whole' && !Array.isArray(output)) return [failed({ message: 'an answer without output' })];
    const missing = this.#output.repeat(items).flatMap((event) => this.#items.read(event, true));
    return [...missing, ...this.#named(response), ...readEnd(response, ending === 'incomplete')];
  }
}

/** Reads an event whose data is not JSON; its name may identify it. */
function unreadable(name: string = '', data: string): Fragment[] {
  if (name === 'error') return [failed({ message: data })];
  if (last.has(name)) return [torn()];
  const isItem = name.endsWith('.added') || name === 'response.output_item.done';
  return name.startsWith('response.') && !isItem && !ofResponse.has(name) ? [progress] : [];
}

/** The failure of a final event without a response. */
function torn(): Fragment {
  return {
    type: 'error',
    error: new GatewayError('upstream_failed', upstreamReason('upstream.reason.event_truncated')),
  };
}

/** A response is complete if both the event and its status say `completed`: its text has been sent. */
function hasFailed(response: ResponsesReply, ending: Ending): boolean {
  if (ending !== 'whole' && response.status === 'completed') return false;
  return failedStatuses.has(response.status) || readFailure(response) !== undefined;
}

/** The end of a complete response, without its output. */
function readEnd(response: ResponsesReply, isTruncated: boolean): Fragment[] {
  const isIncomplete = isTruncated || response.status === 'incomplete';
  return [
    ...withheldReasoning(response),
    ...usageOf(response),
    ...tierFragment(response.service_tier),
    { type: 'finish', reason: isWithheld(response) ? 'content_filter' : isIncomplete ? 'length' : 'stop' },
    { type: 'end' },
  ];
}

/** Notes reasoning of the request that the vendor withheld from its model, except at a turn boundary, where it always does so. */
function withheldReasoning(response: ResponsesReply): Fragment[] {
  return asList(response.input_transformations).some(
    (one) => member<ResponsesTransformation>(one, 'reason') !== 'turn_boundary',
  )
    ? [{ type: 'dropped', what: 'reasoning of the request at the upstream' }]
    : [];
}

function usageOf(response: JsonValue | undefined): Fragment[] {
  return usageFragment(responsesUsage(member<ResponsesReply>(response, 'usage')));
}

/** Counts at the beginning of a reply: there is no output yet, and zero means that the prompt was not counted. */
function earlyUsageOf(response: JsonValue | undefined): Fragment[] {
  const { input, cacheRead, cacheWrite } = responsesUsage(member<ResponsesReply>(response, 'usage')) ?? {};
  return input === undefined || input === 0 ? [] : usageFragment({ input, cacheRead, cacheWrite });
}

/** Some vendors report a withheld response as completed, too. */
function isWithheld({ incomplete_details: details }: ResponsesReply): boolean {
  return member<ResponsesIncompleteDetails>(details, 'reason') === 'content_filter';
}
