import { bounds } from '#core/platform/bounds.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readRefusal, readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { asText, count, member } from '../../../wire/members.ts';
import type { ReplyObserver } from '../../contract/pass-through.ts';
import { writeUsage, renderResponseFailed } from './reply-object.ts';
import { type StreamedText, textPartOfEvent, writeTextPart } from './text-parts.ts';
import type {
  ResponsesEvent,
  ResponsesItem,
  ResponsesPart,
  ResponsesReply,
  ResponsesUsage,
  ResponsesUsageDetails,
} from '../../../wire/responses.ts';
import type { Editable } from '../../../wire/loose.ts';

/** Statuses of an unfinished response, unless it already has output. */
const unfinished: ReadonlySet<JsonValue | undefined> = new Set(['queued', 'in_progress']);

/** Observes a Responses reply. Source: OpenAI API reference, "Responses streaming events". */
export class ResponsesObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  isPolicyRefusal = false;
  finished: JsonObject | undefined;
  readonly #id: string;
  /** Repeated in the gateway's own `response.failed`: the announced response and the complete items. */
  #response: ResponsesReply = {};
  #output: JsonValue[] = [];
  /** The data of events of incomplete items, parsed only when the answer breaks off. */
  #unfinished: string[] = [];
  #room: number = bounds.unfinishedItems;
  #openItems = 0;
  /** Data of the last event sent to the client. */
  #lastData = '';

  constructor(id: string) {
    this.#id = id;
  }

  event(event: StreamEvent): void {
    if (this.failure !== undefined) return;
    this.#see(event);
    if (this.failure === undefined) this.#lastData = event.data ?? '';
  }

  #see(event: StreamEvent): void {
    const type = event.name ?? member<ResponsesEvent>(event.parse(), 'type');
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress': {
        const response = member<ResponsesEvent>(event.parse(), 'response');
        if (isJsonObject(response)) this.#response = response;
        return;
      }
      case 'response.completed':
      case 'response.incomplete':
        this.hasContent = true;
        this.isComplete = true;
        this.#finish(member<ResponsesEvent>(event.parse(), 'response'));
        return;
      case 'response.failed':
        this.#fail(member<ResponsesEvent>(event.parse(), 'response'));
        return;
      case 'error':
        this.#fail(event.parse());
        return;
      case 'response.output_item.done':
        this.#output.push(member<ResponsesEvent>(event.parse(), 'item') ?? null);
        this.#keep(event);
        if (--this.#openItems <= 0) this.#forget();
        return;
      case 'response.output_item.added':
        this.#openItems++;
        this.#keep(event);
        return;
      case undefined:
        // Vendors that imitate this format leave out the type of an error event.
        if (readReportedError(event.parse()) !== undefined) this.#fail(event.parse());
        return;
      default:
        this.hasContent ||= isContent(type);
        if (this.#openItems > 0) this.#keep(event);
    }
  }

  #keep({ data = '' }: StreamEvent): void {
    this.#room -= data.length;
    if (this.#room >= 0) this.#unfinished.push(data);
    else this.#unfinished = [];
  }

  /** @param response may leave out the output that the events before have carried */
  #finish(response: JsonValue | undefined): void {
    this.usage = responsesUsage(member<ResponsesReply>(response, 'usage'));
    if (!isJsonObject(response)) return;
    this.isPolicyRefusal = isWithheld(response);
    const { output }: ResponsesReply = response;
    const hasOutput = Array.isArray(output) && output.length > 0;
    this.finished = hasOutput ? response : { ...response, output: this.#output };
  }

  #forget(): void {
    this.#unfinished = [];
    this.#room = bounds.unfinishedItems;
    this.#openItems = 0;
  }

  whole(body: JsonObject): void {
    const { status, usage, output }: ResponsesReply = body;
    if (status === 'failed' || readReportedError(body) !== undefined) this.#fail(body);
    this.usage = responsesUsage(usage);
    this.finished = body;
    this.isPolicyRefusal = isWithheld(body);
    const isCount = typeof body['input_tokens'] === 'number';
    this.hasContent = isCount || (Array.isArray(output) && !(unfinished.has(status) && output.length === 0));
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete;
  }

  get isOver(): boolean {
    return this.isComplete;
  }

  renderFailure(error: GatewayError, usage: Usage | undefined = this.usage): string {
    const last = /"sequence_number"\s*:\s*(\d+)/.exec(this.#lastData)?.[1];
    const response: ResponsesReply = {
      ...this.#response,
      output: [...this.#output, ...unfinishedItems(this.#unfinished)],
      usage: usage === undefined ? null : writeUsage(usage),
    };
    return renderResponseFailed(error, `resp_${this.#id}`, last === undefined ? 0 : Number(last) + 1, response);
  }

  /** The upstream's final response counts more than its events. */
  #fail(body: JsonValue | undefined): void {
    const output = member<ResponsesReply>(body, 'output');
    if (Array.isArray(output) && output.length > 0) {
      this.#output = output;
      this.#forget();
    }
    this.usage ??= responsesUsage(member<ResponsesReply>(body, 'usage'));
    this.failure = reportedFailure(readRefusal(isJsonObject(body) ? body : undefined));
  }
}

function isWithheld({ incomplete_details: details }: ResponsesReply): boolean {
  return member(details, 'reason') === 'content_filter';
}

/** `…added` events announce empty items and parts. */
function isContent(type: JsonValue | undefined): boolean {
  return typeof type === 'string' && type.startsWith('response.') && !type.endsWith('.added');
}

export function responsesUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const usage: ResponsesUsage = value;
  return {
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(member<ResponsesUsageDetails>(usage.input_tokens_details, 'cached_tokens')),
    cacheWrite: count(member<ResponsesUsageDetails>(usage.input_tokens_details, 'cache_write_tokens')),
    reasoning: count(member<ResponsesUsageDetails>(usage.output_tokens_details, 'reasoning_tokens')),
  };
}

/** Members of items that grow by deltas. */
const inputMembers: Readonly<Record<string, 'arguments' | 'input'>> = {
  'response.function_call_arguments.delta': 'arguments',
  'response.mcp_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'input',
};

/**
 * The incomplete items of a broken answer.
 *
 * @param events their data, in order
 */
function unfinishedItems(events: readonly string[]): JsonObject[] {
  const items = new Map<JsonValue | undefined, JsonObject>();
  for (const data of events) {
    const event: ResponsesEvent = parseObject(data) ?? {};
    const { type, item, output_index: index } = event;
    const known = items.get(index);
    if (type === 'response.output_item.added' && isJsonObject(item)) items.set(index, item);
    else if (type === 'response.output_item.done') items.delete(index);
    else if (known !== undefined) grow(known, event);
  }
  return [...items.values()].map((item) => ({ ...item, status: 'incomplete' }));
}

function grow(item: Editable<ResponsesItem>, event: ResponsesEvent): void {
  const { type, delta } = event;
  if (typeof delta !== 'string' || !String(type).endsWith('.delta')) return;
  const part = textPartOfEvent(String(type));
  const input = inputMembers[String(type)];
  if (part === undefined) {
    if (input !== undefined) item[input] = asText(item[input]) + delta;
    return;
  }
  const holder = partOf(item, part, event);
  if (holder !== undefined) holder[part.member] = asText(holder[part.member]) + delta;
}

/** The part that an event belongs to, and begins if it is new. Undefined when its index skips others. */
function partOf(
  item: Editable<ResponsesItem>,
  kind: StreamedText,
  event: ResponsesEvent,
): Editable<ResponsesPart> | undefined {
  const given = item[kind.list];
  const parts = Array.isArray(given) ? given : [];
  item[kind.list] = parts;
  const number = event[kind.index] ?? 0;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > parts.length) return undefined;
  const known = parts[number];
  if (isJsonObject(known)) return known;
  const part: Editable<ResponsesPart> = writeTextPart(kind, '');
  parts[number] = part;
  return part;
}
