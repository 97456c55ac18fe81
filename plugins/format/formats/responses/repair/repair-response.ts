import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { filledText, member, sameOr, withoutUnset } from '../../../wire/members.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { responseObject, type ResponseState, responseId } from '../reply/reply-object.ts';
import { RepairedOutput } from '../reply/repaired-output.ts';
import { textOr, withMembers } from '../reply/repair-item.ts';
import type {
  ResponsesFormat,
  ResponsesReply,
  ResponsesRequest,
  ResponsesTextOptions,
} from '../../../wire/responses.ts';

/** Members that the SDK's type of a response promises. Source: openai 7.55, `Response`. */
const promised: readonly (keyof ResponsesReply)[] = [
  'id',
  'object',
  'created_at',
  'status',
  'error',
  'incomplete_details',
  'instructions',
  'metadata',
  'model',
  'output',
  'parallel_tool_calls',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
];

/**
 * A response object with every member that clients expect; the same object if it is complete. Missing members are taken from
 * the request.
 */
export function repairResponse(
  given: ResponsesReply,
  status: ResponseState['status'],
  output: JsonValue[],
  id: string,
  context: ReplyContext,
): ResponsesReply {
  const isThin = promised.some((name) => given[name] === undefined);
  const complete: ResponsesReply = isThin
    ? { ...responseObject(context, { status, output: [] }), ...withoutUnset(given) }
    : given;
  return withMembers(complete, {
    id,
    output,
    status: textOr(complete.status, status),
    error: nullIfEmpty(complete.error),
    incomplete_details: nullIfEmpty(complete.incomplete_details),
    ...describedFormat(complete, context),
  });
}

/** Servers in Go write every member, but clients treat the mere presence of these as a failure or a truncation. */
function nullIfEmpty(value: JsonValue | undefined): JsonValue {
  return isJsonObject(value) && isFilled(value) ? value : null;
}

/** Vendors repeat the requested schema without its description. */
function describedFormat({ text }: ResponsesReply, context: ReplyContext): ResponsesReply {
  const repeated = formatOf(text);
  const outline: ResponsesRequest = context.outline ?? context.request;
  const outlined = formatOf(outline.text);
  const isLost = typeof outlined?.description === 'string' && typeof repeated?.description !== 'string';
  if (!isLost || repeated?.type !== outlined.type) return {};
  // Only the description requires parsing a long request in full.
  const request: ResponsesRequest = context.request;
  const description = formatOf(request.text)?.description ?? null;
  return { text: { ...(text as JsonObject), format: { ...repeated, description } } };
}

function formatOf(text: JsonValue | undefined): ResponsesFormat | undefined {
  const format = member<ResponsesTextOptions>(text, 'format');
  return isJsonObject(format) ? format : undefined;
}

const finished = new Set<JsonValue | undefined>(['completed', 'incomplete', undefined, null]);

/** A whole reply with every member that clients expect; the same object if it is complete or reports an error. */
export function repairWhole(body: JsonObject, context: ReplyContext): JsonObject {
  const { status, output, output_text: text, id }: ResponsesReply = body;
  if (!finished.has(status) || readReportedError(body) !== undefined) return body;
  const listed = Array.isArray(output) ? output : undefined;
  const given = listed === undefined || listed.length === 0 ? (itemsOf(text) ?? listed) : listed;
  if (given === undefined) return body;
  const end = status === 'incomplete' ? 'incomplete' : 'completed';
  const items = new RepairedOutput(context.id).whole(given, end);
  return repairResponse(body, end, sameOr(given, items), textOr(id, responseId(context)), context);
}

/** Items made from `output_text`, an SDK convenience that some vendors send instead of the output; undefined if it is absent. */
function itemsOf(text: JsonValue | undefined): JsonValue[] | undefined {
  const content = filledText(text);
  return content === undefined ? undefined : [{ type: 'message', content }];
}
