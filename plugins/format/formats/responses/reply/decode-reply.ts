import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder } from '../../../canonical/codec.ts';
import {
  failed,
  type FinishReason,
  type Fragment,
  readFailure,
  tierFragment,
  usageFragment,
} from '../../../canonical/reply.ts';
import { asList, member, parseBody } from '../../../wire/members.ts';
import { ItemTracker } from './item-tracker.ts';
import { responsesUsage } from './observer.ts';
import { ItemFragments } from './read-output.ts';
import type {
  ResponsesEvent,
  ResponsesIncompleteDetails,
  ResponsesReply,
  ResponsesTransformation,
} from '../../../wire/responses.ts';

const failedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['failed', 'cancelled']);
const unfinishedStatuses: ReadonlySet<JsonValue | undefined> = new Set(['queued', 'in_progress']);

/**
 * Reads a Responses reply. Texts and inputs come up to three times, as deltas, when a part is done and when its item is
 * done. Vendors leave out any of these, so each adds what is missing.
 *
 * Source: OpenAI API reference, "Responses streaming events".
 */
export class ResponsesDecoder implements ReplyDecoder {
  readonly #tracker = new ItemTracker();
  readonly #items = new ItemFragments(this.#tracker);

  event(name: string | undefined, data: string): Fragment[] {
    if (data.trim() === '[DONE]') return [{ type: 'end' }];
    const body = parseBody(data);
    if (body === undefined) return name === 'error' ? [failed({ message: data })] : [];
    const { type: own }: ResponsesEvent = body;
    const type = typeof own === 'string' ? own : name;
    if (
      name === 'error' ||
      type === 'error' ||
      (type?.startsWith('response.') !== true && readFailure(body) !== undefined)
    ) {
      return [failed(body)];
    }
    return this.#event(type ?? '', body);
  }

  whole(body: JsonObject): Fragment[] {
    return this.#end(body, 'whole');
  }

  #event(type: string, body: ResponsesEvent): Fragment[] {
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return usageOf(body.response);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.done':
        return this.#end(asResponse(body), type === 'response.incomplete' ? 'incomplete' : 'completed');
      case 'response.failed':
      case 'response.cancelled':
        return [...usageOf(body.response), failed(asResponse(body))];
      case 'response.output_item.added':
        return this.#items.added(body);
      case 'response.output_item.done':
        return this.#items.done(body.item, this.#tracker.find(body));
      default:
        return this.#items.part(type, body);
    }
  }

  /** The content of a whole reply, without what the events before have carried. */
  #end(response: ResponsesReply, ending: 'whole' | 'completed' | 'incomplete'): Fragment[] {
    const { output, status } = response;
    const isFailed = failedStatuses.has(status) || (ending === 'whole' && unfinishedStatuses.has(status));
    if (isFailed || readFailure(response) !== undefined) return [...usageOf(response), failed(response)];
    if (ending === 'whole' && !Array.isArray(output)) return [failed({ message: 'an answer without output' })];
    const items = Array.isArray(output) ? output : [];
    const missing = items.flatMap((item, index) => this.#items.repeated(item, index));
    const isIncomplete = ending === 'incomplete' || status === 'incomplete';
    return [
      ...missing,
      ...withheldReasoning(response),
      ...usageOf(response),
      ...tierFragment(response.service_tier),
      { type: 'finish', reason: isIncomplete ? whyIncomplete(response) : 'stop' },
      { type: 'end' },
    ];
  }
}

/** Some vendors send the response itself in place of the event. */
function asResponse(body: ResponsesEvent): ResponsesReply {
  const { response } = body;
  return isJsonObject(response) ? response : body;
}

/** Notes reasoning of the request that the vendor withheld from its model. At the end of a turn, it always does. */
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

function whyIncomplete(response: ResponsesReply): FinishReason {
  return member<ResponsesIncompleteDetails>(response.incomplete_details, 'reason') === 'content_filter'
    ? 'content_filter'
    : 'length';
}
