import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { asFilledText, readMember, keepIfSame, withoutUndefined } from '../../../wire/members.ts';
import type {
  ResponsesFormat,
  ResponsesIncompleteDetails,
  ResponsesReply,
  ResponsesRequest,
  ResponsesTextOptions,
} from '../../../wire/responses.ts';
import { textOr, withMembers } from '../reply/repair-item.ts';
import { RepairedOutput } from '../reply/repaired-output.ts';
import { writeResponse, type ResponseState, createResponseId } from '../reply/reply-object.ts';

/** Source: openai 7.55, `Response`. */
const requiredMembers: readonly (keyof ResponsesReply)[] = [
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

/** Adds the response members that clients expect, with values from the request. Returns the same object if none is missing. */
export function repairResponse(
  vendorResponse: ResponsesReply,
  status: ResponseState['status'],
  output: JsonValue[],
  id: string,
  context: ReplyContext,
): ResponsesReply {
  const lacksMembers = requiredMembers.some((name) => vendorResponse[name] === undefined);
  const completeResponse: ResponsesReply = lacksMembers
    ? { ...writeResponse(context, { status, output: [] }), ...withoutUndefined(vendorResponse) }
    : vendorResponse;
  return withMembers(completeResponse, {
    id,
    output,
    status: textOr(completeResponse.status, status),
    error: nullIfEmpty(completeResponse.error),
    incomplete_details: repairDetails(completeResponse.incomplete_details),
    ...restoreDescription(completeResponse, context),
  });
}

function repairDetails(details: JsonValue | undefined): JsonValue {
  const filledDetails = nullIfEmpty(details);
  const reason = readMember<ResponsesIncompleteDetails>(filledDetails, 'reason');
  // OGX 1.5.0 uses Chat's name for the output token limit.
  return reason === 'length' ? { ...(filledDetails as JsonObject), reason: 'max_output_tokens' } : filledDetails;
}

function nullIfEmpty(value: JsonValue | undefined): JsonValue {
  // Servers written in Go write every member, but clients treat an empty object as a failure or a limit.
  return isJsonObject(value) && isFilled(value) ? value : null;
}

function restoreDescription({ text }: ResponsesReply, context: ReplyContext): ResponsesReply {
  const responseFormat = formatOf(text);
  const outline: ResponsesRequest = context.outline ?? context.request;
  const requestFormat = formatOf(outline.text);
  // Vendors omit the description when they repeat the schema.
  const isDescriptionLost =
    typeof requestFormat?.description === 'string' && typeof responseFormat?.description !== 'string';
  if (!isDescriptionLost || responseFormat?.type !== requestFormat.type) return {};
  // Only the description makes it necessary to parse a long request in full.
  const request: ResponsesRequest = context.request;
  const description = formatOf(request.text)?.description ?? null;
  return { text: { ...(text as JsonObject), format: { ...responseFormat, description } } };
}

function formatOf(text: JsonValue | undefined): ResponsesFormat | undefined {
  const format = readMember<ResponsesTextOptions>(text, 'format');
  return isJsonObject(format) ? format : undefined;
}

const finishedStatuses = new Set<JsonValue | undefined>(['completed', 'incomplete', undefined, null]);

/** Returns the same object if the reply is complete or reports an error. */
export function repairReply(body: JsonObject, context: ReplyContext): JsonObject {
  const { status, output, output_text: text, id }: ResponsesReply = body;
  if (!finishedStatuses.has(status) || readReportedError(body) !== undefined) return body;
  const vendorOutput = Array.isArray(output) ? output : undefined;
  const vendorItems =
    vendorOutput === undefined || vendorOutput.length === 0 ? (createItems(text) ?? vendorOutput) : vendorOutput;
  if (vendorItems === undefined) return body;
  const endStatus = status === 'incomplete' ? 'incomplete' : 'completed';
  const items = new RepairedOutput(context.id).repairItems(vendorItems, endStatus);
  return repairResponse(
    body,
    endStatus,
    keepIfSame(vendorItems, items),
    textOr(id, createResponseId(context)),
    context,
  );
}

function createItems(text: JsonValue | undefined): JsonValue[] | undefined {
  // `output_text` is an SDK convenience that some vendors send instead of the output.
  const content = asFilledText(text);
  return content === undefined ? undefined : [{ type: 'message', content }];
}
