import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { canonicalInput } from '../../../canonical/kept-reasoning.ts';
import { filledText, sameOr } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import type { Editable } from '../../../wire/loose.ts';

/** The member with the input of a call; undefined for items that the client does not run. */
export function inputMemberOf(type: string): 'arguments' | 'input' | undefined {
  if (type === 'function_call') return 'arguments';
  return type === 'custom_tool_call' ? 'input' : undefined;
}

/** True if two calls have the same id, name and input. */
export function isSameCall(one: ResponsesItem, other: ResponsesItem): boolean {
  const type = typeOf(one);
  const input = inputMemberOf(type);
  if (input === undefined || typeOf(other) !== type || one.name !== other.name) return false;
  return canonicalInput(inputText(one[input])) === canonicalInput(inputText(other[input]));
}

/** Digest of the arguments or the input of a call; undefined for other items. */
export function digestOfInput(item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item) || filledText(item['call_id']) === undefined) return undefined;
  const { arguments: given, input = given }: ResponsesItem = item;
  const whole = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return createHash('sha256').update(canonicalInput(whole)).digest('base64');
}

/** The type of an item; some vendors omit the type of a message. */
export function typeOf(item: ResponsesItem): string {
  return textOr(item.type, 'message');
}

/** What an event says of its item; undefined where it says nothing. */
export interface GivenNames {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly call: string | undefined;
  readonly name: string | undefined;
  /** Digest of the input of a call; undefined for other items. */
  readonly digest: string | undefined;
}

export interface ItemNames {
  readonly id: string;
  /** The id of the call, unique in its answer. */
  readonly callId: string;
}

/**
 * A finished item with the members that the SDK's types promise; the same object if it has them.
 *
 * @param status status for an item without a status
 */
export function repairItem(item: ResponsesItem, names: ItemNames, status: string): ResponsesItem {
  const type = typeOf(item);
  const fixed: ResponsesItem = { id: names.id, type, ...membersOf(type, item, names, status) };
  return withMembers(item, fixed);
}

function membersOf(type: string, item: ResponsesItem, { callId }: ItemNames, status: string): ResponsesItem {
  const stated = { status: textOr(item.status, status) };
  // Clients parse the arguments of a finished call and fail on an empty string.
  const noArguments = status === 'in_progress' ? '' : '{}';
  switch (type) {
    case 'message':
      return { ...stated, role: textOr(item.role, 'assistant'), content: repairContent(item.content) };
    case 'reasoning':
      return { summary: Array.isArray(item.summary) ? item.summary : [] };
    case 'function_call':
      return {
        ...stated,
        call_id: callId,
        arguments: inputText(item.arguments) || noArguments,
      };
    case 'custom_tool_call':
      return { call_id: callId, input: inputText(item.input) };
    default:
      return {};
  }
}

/** The object with these members; the same object if it has them. */
export function withMembers<T extends object>(object: T, members: NoInfer<T>): T {
  for (const name in members) if (object[name] !== members[name]) return { ...object, ...members };
  return object;
}

/** The item in its opening form, without the content that its events carry. */
export function openItem(item: ResponsesItem): ResponsesItem {
  const type = typeOf(item);
  const input = inputMemberOf(type);
  const open: Editable<ResponsesItem> = { ...item, status: 'in_progress' };
  if (type === 'message') open.content = [];
  if (type === 'reasoning')
    Object.assign(open, { summary: [], ...(Array.isArray(item.content) && { content: [] }) } satisfies ResponsesItem);
  if (input !== undefined) open[input] = '';
  return open;
}

function repairContent(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === 'string') return content === '' ? [] : [repairPart({ type: 'output_text', text: content })];
  if (!Array.isArray(content)) return [];
  return sameOr(content, content.filter(isJsonObject).map(repairPart));
}

/** Clients iterate over a text's annotations without checking that they exist. */
function repairPart(part: ResponsesPart): ResponsesPart {
  const { type, text, annotations } = part;
  if (type !== undefined && type !== 'text' && type !== 'output_text') return part;
  if (typeof text !== 'string') return part;
  return withMembers(part, { type: 'output_text', annotations: Array.isArray(annotations) ? annotations : [] });
}

/** Inputs should be text, but some vendors send objects. */
export function inputText(input: JsonValue | undefined): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) ? JSON.stringify(input) : '';
}

export function textOr(value: JsonValue | undefined, otherwise: string): string {
  return filledText(value) ?? otherwise;
}
