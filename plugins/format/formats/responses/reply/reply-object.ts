import type { Usage } from '#core/gateway/facts.ts';
import { renderStreamMessage } from '#core/platform/errors/stream-wording.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import type { CompleteReply } from '../../../canonical/reply.ts';
import { asCount, readMember } from '../../../wire/members.ts';
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

/** The part of a response object that changes. */
export interface ResponseState {
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly output: readonly ResponsesItem[];
  readonly reply?: CompleteReply;
  /** Usage, if the answer failed. */
  readonly usage?: Usage | undefined;
}

export const responseEvents: ReadonlySet<string> = new Set(
  ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map((state) => `response.${state}`),
);

/** Some vendors send the response itself instead of the event. */
export function readResponse(event: ResponsesEvent): ResponsesReply {
  return isJsonObject(event.response) ? event.response : event;
}

const responseIdPrefix = 'resp_';

export function createResponseId({ id }: Pick<ReplyContext, 'id'>): string {
  return responseIdPrefix + id;
}

export function readExchangeId(responseId: string): string {
  return responseId.startsWith(responseIdPrefix) ? responseId.slice(responseIdPrefix.length) : responseId;
}

/**
 * Writes the response object, which repeats the request's parameters and the defaults of those that were omitted. Source: Open Responses
 * specification, "ResponseResource", whose members are all required.
 */
export function writeResponse(
  context: ReplyContext,
  { status, output, reply, usage = reply?.usage }: ResponseState,
): ResponsesReply {
  return {
    id: createResponseId(context),
    object: 'response',
    access_programs: null,
    created_at: context.created,
    completed_at: status === 'completed' ? Math.max(context.created, Math.floor(Date.now() / 1000)) : null,
    status,
    error: null,
    incomplete_details: status === 'incomplete' && reply !== undefined ? { reason: mapIncompleteReason(reply) } : null,
    model: context.model,
    ...writeRequestMembers(context.request),
    ...(reply?.tier !== undefined && { service_tier: reply.tier }),
    output: [...output],
    usage: usage === undefined ? null : writeUsage(usage),
  };
}

/**
 * Returns true if a reply that is reported as completed has used up its output token limit. Ollama 0.17.4 and llama.cpp b11549 report
 * replies that were cut off as completed.
 *
 * @param requestedLimit the request's limit, for replies that do not repeat it
 */
export function isCutAtLimit(
  { status, max_output_tokens, usage }: ResponsesReply,
  requestedLimit?: JsonValue,
): boolean {
  const limit = asCount(max_output_tokens) ?? asCount(requestedLimit);
  const output = readUsage(usage)?.output;
  return status === 'completed' && limit !== undefined && output !== undefined && output >= limit;
}

/** An answer that ends with a refusal is complete; an answer that was merely filtered is not. */
export function resolveStatus({ finish, blocks }: CompleteReply): 'completed' | 'incomplete' {
  if (isTruncated({ finish })) return 'incomplete';
  return finish === 'content_filter' && !blocks.some(({ type }) => type === 'refusal') ? 'incomplete' : 'completed';
}

/** Returns true if a limit cut the last item off, or the answer pauses after it for the vendor's own tools. */
export function isTruncated({ finish }: Pick<CompleteReply, 'finish'>): boolean {
  return finish === 'length' || finish === 'context_length' || finish === 'pause';
}

function mapIncompleteReason({ finish }: CompleteReply): string {
  return finish === 'content_filter' ? 'content_filter' : 'max_output_tokens';
}

export function readUsage(value: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const usage: ResponsesUsage = value;
  return {
    input: asCount(usage.input_tokens),
    output: asCount(usage.output_tokens),
    cacheRead: asCount(readMember<ResponsesUsageDetails>(usage.input_tokens_details, 'cached_tokens')),
    cacheWrite: asCount(readMember<ResponsesUsageDetails>(usage.input_tokens_details, 'cache_write_tokens')),
    reasoning: asCount(readMember<ResponsesUsageDetails>(usage.output_tokens_details, 'reasoning_tokens')),
  };
}

/** Codex fails the turn if any count is missing. */
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

function writeRequestMembers(request: ResponsesRequest): ResponsesReply {
  const tier = textOrNull(request.service_tier);
  return {
    instructions: textOrNull(request.instructions),
    max_output_tokens: numberOr(request.max_output_tokens, null),
    max_tool_calls: numberOr(request.max_tool_calls, null),
    parallel_tool_calls: request.parallel_tool_calls !== false,
    previous_response_id: textOrNull(request.previous_response_id),
    reasoning: writeReasoning(request.reasoning),
    store: request.store !== false,
    background: false,
    temperature: numberOr(request.temperature, 1),
    top_p: numberOr(request.top_p, 1),
    top_logprobs: numberOr(request.top_logprobs, 0),
    presence_penalty: numberOr(request.presence_penalty, 0),
    frequency_penalty: numberOr(request.frequency_penalty, 0),
    text: writeText(request.text),
    tool_choice: request.tool_choice ?? 'auto',
    tools: Array.isArray(request.tools) ? request.tools.map(writeTool) : [],
    truncation: textOrNull(request.truncation) ?? 'disabled',
    metadata: isJsonObject(request.metadata) ? request.metadata : {},
    service_tier: tier === null || tier === 'auto' ? 'default' : tier,
    safety_identifier: textOrNull(request.safety_identifier),
    prompt_cache_key: textOrNull(request.prompt_cache_key),
  };
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function numberOr(value: JsonValue | undefined, fallback: number | null): number | null {
  return typeof value === 'number' ? value : fallback;
}

function writeReasoning(value: JsonValue | undefined): ResponsesReasoningOptions {
  const reasoning: ResponsesReasoningOptions = isJsonObject(value) ? value : {};
  return { effort: textOrNull(reasoning.effort), summary: textOrNull(reasoning.summary) };
}

function writeText(value: JsonValue | undefined): ResponsesTextOptions {
  const options: ResponsesTextOptions = isJsonObject(value) ? value : {};
  const verbosity = textOrNull(options.verbosity);
  return {
    format: isJsonObject(options.format) ? options.format : { type: 'text' },
    ...(verbosity !== null && { verbosity }),
  };
}

function writeTool(value: JsonValue): JsonValue {
  const tool: ResponsesTool = isJsonObject(value) ? value : {};
  if (tool.type !== 'function') return value;
  // A response's functions have all members, including those that the request omitted.
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? null,
  };
}

/** Renders an error that ends a stream before its response has begun. `id` is the exchange's id. */
export function renderStreamError(error: GatewayError, id: string): string {
  return renderResponseFailed(error, id, 0);
}

/**
 * Renders a stream's failure as OpenAI does: an error event and then the failed response. Codex only reads the response. Haystack, agno,
 * LangChain JS and AI SDK 5 mistake a stream without the error event for a finished answer, and ignore the event unless the error is an
 * object.
 */
export function renderResponseFailed(
  error: GatewayError,
  id: string,
  sequenceNumber: number,
  response: ResponsesReply = {},
): string {
  const code = mapErrorCode(error);
  const message = renderStreamMessage(error, error.messageFor('openai'));
  const { type } = error.wording('openai');
  const failedResponse: ResponsesReply = {
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
    writeEvent('response.failed', sequenceNumber + 1, { response: failedResponse })
  );
}

function writeEvent(type: string, sequenceNumber: number, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequenceNumber, ...members })}\n\n`;
}

/** Codex does not retry these errors but explains them to its user. Source: Codex `sse/responses.rs`. */
const explainedCodes = new Set(['context_length_exceeded', 'insufficient_quota', 'cyber_policy']);

/** Codex retries on all codes but `explainedCodes`, `invalid_prompt` and overload. */
function mapErrorCode(error: GatewayError): string {
  if (error.code === 'rate_limited') return 'rate_limit_exceeded';
  if (!error.isFinal) return 'server_error';
  const { code } = error.wording('openai');
  return code !== null && explainedCodes.has(code) ? code : 'invalid_prompt';
}
