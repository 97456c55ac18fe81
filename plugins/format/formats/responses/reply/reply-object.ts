import { streamMessage } from '#core/platform/errors/stream-wording.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import type { CompleteReply } from '../../../canonical/reply.ts';
import { count, member } from '../../../wire/members.ts';
import type {
  ResponsesEvent,
  ResponsesItem,
  ResponsesReasoningOptions,
  ResponsesReply,
  ResponsesRequest,
  ResponsesTextOptions,
  ResponsesTool,
  ResponsesUsage,
  ResponsesUsageDetails,
} from '../../../wire/responses.ts';

/** The changing part of a response object. */
export interface ResponseState {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly ResponsesItem[];
  readonly reply?: CompleteReply;
  /** Usage of a failed answer. */
  readonly usage?: Usage | undefined;
}

/** Events that hold the response itself. */
export const responseEvents: ReadonlySet<string> = new Set(
  ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map((state) => `response.${state}`),
);

/** The response in an event; some vendors send the response itself in place of the event. */
export function responseIn(event: ResponsesEvent): ResponsesReply {
  return isJsonObject(event.response) ? event.response : event;
}

export function responseId({ id }: Pick<ReplyContext, 'id'>): string {
  return `resp_${id}`;
}

/**
 * The response object: it repeats the parameters of the request and the defaults of omitted parameters. Source: Open
 * Responses specification, "ResponseResource", whose members are all required.
 */
export function responseObject(
  context: ReplyContext,
  { status, output, reply, usage = reply?.usage }: ResponseState,
): ResponsesReply {
  return {
    id: responseId(context),
    object: 'response',
    access_programs: null,
    created_at: context.created,
    completed_at: status === 'completed' ? Math.max(context.created, Math.floor(Date.now() / 1000)) : null,
    status,
    error: null,
    incomplete_details: status === 'incomplete' && reply !== undefined ? { reason: whyIncomplete(reply) } : null,
    model: context.model,
    ...repeated(context.request),
    ...(reply?.tier !== undefined && { service_tier: reply.tier }),
    output: [...output],
    usage: usage === undefined ? null : writeUsage(usage),
  };
}

/** A refusal completes an answer; a filtered answer without a refusal is incomplete. */
export function statusOf({ finish, blocks }: CompleteReply): 'completed' | 'incomplete' {
  if (isTruncated({ finish })) return 'incomplete';
  return finish === 'content_filter' && !blocks.some(({ type }) => type === 'refusal') ? 'incomplete' : 'completed';
}

/** True if a limit truncated the last item, or the answer pauses after it for the vendor's own tools. */
export function isTruncated({ finish }: Pick<CompleteReply, 'finish'>): boolean {
  return finish === 'length' || finish === 'context_length' || finish === 'pause';
}

function whyIncomplete({ finish }: CompleteReply): string {
  return finish === 'content_filter' ? 'content_filter' : 'max_output_tokens';
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

/** Codex fails the turn when a count is missing. */
export function writeUsage({
  input = 0,
  output = 0,
  cacheRead = 0,
  cacheWrite = 0,
  reasoning = 0,
}: Usage): ResponsesUsage {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

function repeated(request: ResponsesRequest): ResponsesReply {
  const tier = text(request.service_tier);
  return {
    instructions: text(request.instructions),
    max_output_tokens: number(request.max_output_tokens, null),
    max_tool_calls: number(request.max_tool_calls, null),
    parallel_tool_calls: request.parallel_tool_calls !== false,
    previous_response_id: text(request.previous_response_id),
    reasoning: writeReasoning(request.reasoning),
    store: request.store !== false,
    background: false,
    temperature: number(request.temperature, 1),
    top_p: number(request.top_p, 1),
    top_logprobs: number(request.top_logprobs, 0),
    presence_penalty: number(request.presence_penalty, 0),
    frequency_penalty: number(request.frequency_penalty, 0),
    text: writeText(request.text),
    tool_choice: request.tool_choice ?? 'auto',
    tools: Array.isArray(request.tools) ? request.tools.map(writeTool) : [],
    truncation: text(request.truncation) ?? 'disabled',
    metadata: isJsonObject(request.metadata) ? request.metadata : {},
    service_tier: tier === null || tier === 'auto' ? 'default' : tier,
    safety_identifier: text(request.safety_identifier),
    prompt_cache_key: text(request.prompt_cache_key),
  };
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function number(value: JsonValue | undefined, otherwise: number | null): number | null {
  return typeof value === 'number' ? value : otherwise;
}

function writeReasoning(value: JsonValue | undefined): ResponsesReasoningOptions {
  const reasoning: ResponsesReasoningOptions = isJsonObject(value) ? value : {};
  return { effort: text(reasoning.effort), summary: text(reasoning.summary) };
}

function writeText(value: JsonValue | undefined): ResponsesTextOptions {
  const wanted: ResponsesTextOptions = isJsonObject(value) ? value : {};
  const verbosity = text(wanted.verbosity);
  return {
    format: isJsonObject(wanted.format) ? wanted.format : { type: 'text' },
    ...(verbosity !== null && { verbosity }),
  };
}

/** Functions in a reply have all members, even members that the request omitted. */
function writeTool(value: JsonValue): JsonValue {
  const tool: ResponsesTool = isJsonObject(value) ? value : {};
  if (tool.type !== 'function') return value;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  };
}

/**
 * The error that ends a stream before its response has begun.
 *
 * @param id id of the exchange
 */
export function renderStreamError(error: GatewayError, id: string): string {
  return renderResponseFailed(error, id, 0);
}

/**
 * Writes the failure of a stream as OpenAI does: an error event, then the failed response. Codex reads only the response. Haystack,
 * agno, LangChain JS and AI SDK 5 treat a stream without the error event as a finished answer, and ignore the event unless the error
 * is an object.
 */
export function renderResponseFailed(
  error: GatewayError,
  id: string,
  sequenceNumber: number,
  response: ResponsesReply = {},
): string {
  const code = codeOf(error);
  const message = streamMessage(error, error.messageFor('openai'));
  const { type } = error.wording('openai');
  const failed: ResponsesReply = {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    output: [],
    ...response,
    status: 'failed',
    error: { code, message },
  };
  return (
    writeEvent('error', sequenceNumber, { error: { type, code, message, param: null } }) +
    writeEvent('response.failed', sequenceNumber + 1, { response: failed })
  );
}

function writeEvent(type: string, sequenceNumber: number, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequenceNumber, ...members })}\n\n`;
}

/** Error codes after which Codex does not retry and which it explains to its user. Sources: Codex `sse/responses.rs`. */
const explainedCodes = new Set(['context_length_exceeded', 'insufficient_quota', 'cyber_policy']);

/** One of OpenAI's codes. Codex retries on every code except the explained codes, `invalid_prompt` and overload. */
function codeOf(error: GatewayError): string {
  if (error.code === 'rate_limited') return 'rate_limit_exceeded';
  if (!error.isFinal) return 'server_error';
  const { code } = error.wording('openai');
  return code !== null && explainedCodes.has(code) ? code : 'invalid_prompt';
}
