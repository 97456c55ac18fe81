import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { ReplyContext } from '../../canonical/codec.ts';
import { textOr, withMembers } from './repair-item.ts';
import { responseObject, type ResponseState } from '../reply-object.ts';

/** Members that the SDK's type of a response promises. Source: openai 7.55, `Response`. */
const promised = [
  'id object created_at status error incomplete_details instructions metadata model output parallel_tool_calls',
  'temperature tool_choice tools top_p',
]
  .join(' ')
  .split(' ');

/**
 * A response object with every member that clients expect; the very same object when it has them. What it leaves out is
 * what the request has asked for.
 */
export function repairResponse(
  given: JsonObject,
  status: ResponseState['status'],
  output: JsonValue[],
  id: string,
  context: ReplyContext,
): JsonObject {
  const isThin = promised.some((name) => given[name] === undefined);
  const complete = isThin ? { ...responseObject(context, { status, output: [] }), ...defined(given) } : given;
  return withMembers(complete, {
    id,
    output,
    status: textOr(complete['status'], status),
    ...describedFormat(complete, context.request),
  });
}

/** Vendors repeat the schema that was asked for without its description. */
function describedFormat({ text }: JsonObject, request: JsonObject): JsonObject {
  const wanted = formatOf(request['text']);
  const repeated = formatOf(text);
  const description = wanted?.['description'];
  const isLost =
    typeof description === 'string' && repeated !== undefined && typeof repeated['description'] !== 'string';
  if (!isLost || repeated['type'] !== wanted?.['type']) return {};
  return { text: { ...(text as JsonObject), format: { ...repeated, description } } };
}

function formatOf(text: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(text) && isJsonObject(text['format']) ? text['format'] : undefined;
}

export function defined(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
