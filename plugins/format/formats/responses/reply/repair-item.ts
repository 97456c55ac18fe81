import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asFilledText, keepIfSame } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';

/** Returns the name of the member that holds a call's input; undefined for items that the client does not run. */
export function inputMemberOf(type: string): 'arguments' | 'input' | undefined {
  if (type === 'function_call') return 'arguments';
  return type === 'custom_tool_call' ? 'input' : undefined;
}

/** Returns true if both calls have the same type, name and input. */
export function isSameCall(first: ResponsesItem, second: ResponsesItem): boolean {
  const type = typeOf(first);
  const input = inputMemberOf(type);
  if (input === undefined || typeOf(second) !== type || first.name !== second.name) return false;
  return normalizeInput(readInputText(first[input])) === normalizeInput(readInputText(second[input]));
}

/** Returns the digest of a call's arguments or input; undefined for other items. */
export function digestInput(item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item) || asFilledText(item['call_id']) === undefined) return undefined;
  const { arguments: argumentsValue, input = argumentsValue }: ResponsesItem = item;
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return createHash('sha256').update(normalizeInput(text)).digest('base64');
}

/** Returns an item's type, which some vendors leave out for messages. */
export function typeOf(item: ResponsesItem): string {
  return textOr(item.type, 'message');
}

/** What an event calls its item; undefined where missing. */
export interface VendorNames {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  /** Digest of a call's input; undefined for other items. */
  readonly inputDigest: string | undefined;
}

/** The ids that the client gets for an item. */
export interface ItemNames {
  readonly id: string;
  /** The call's id, unique within its answer. */
  readonly callId: string;
}

/**
 * Adds the members that the SDK's types require. Returns the same object if none is missing.
 *
 * @param status status for an item that has none
 */
export function repairItem(item: ResponsesItem, names: ItemNames, status: string): ResponsesItem {
  const type = typeOf(item);
  const members: ResponsesItem = { id: names.id, type, ...repairMembers(type, item, names, status) };
  return withMembers(item, members);
}

function repairMembers(type: string, item: ResponsesItem, { callId }: ItemNames, status: string): ResponsesItem {
  const statusMember = { status: textOr(item.status, status) };
  // Clients parse a finished call's arguments and fail on an empty string.
  const emptyArguments = status === 'in_progress' ? '' : '{}';
  switch (type) {
    case 'message':
      return { ...statusMember, role: textOr(item.role, 'assistant'), content: repairContent(item.content) };
    case 'reasoning':
      return { summary: Array.isArray(item.summary) ? item.summary : [] };
    case 'function_call':
      return {
        ...statusMember,
        call_id: callId,
        arguments: readInputText(item.arguments) || emptyArguments,
      };
    case 'custom_tool_call':
      return { call_id: callId, input: readInputText(item.input) };
    default:
      return {};
  }
}

/** Sets members of an object. Returns the same object if it already has them. */
export function withMembers<T extends object>(object: T, members: NoInfer<T>): T {
  for (const name in members) if (object[name] !== members[name]) return { ...object, ...members };
  return object;
}

/** Returns an item as it opens, without the content that its events carry. */
export function toOpeningForm(item: ResponsesItem): ResponsesItem {
  const type = typeOf(item);
  const input = inputMemberOf(type);
  const openingForm: Editable<ResponsesItem> = { ...item, status: 'in_progress' };
  if (type === 'message') openingForm.content = [];
  if (type === 'reasoning')
    Object.assign(openingForm, {
      summary: [],
      ...(Array.isArray(item.content) && { content: [] }),
    } satisfies ResponsesItem);
  if (input !== undefined) openingForm[input] = '';
  return openingForm;
}

function repairContent(content: JsonValue | undefined): JsonValue[] {
  if (typeof content === 'string') return content === '' ? [] : [repairPart({ type: 'output_text', text: content })];
  if (!Array.isArray(content)) return [];
  return keepIfSame(content, content.filter(isJsonObject).map(repairPart));
}

/** Adds a text's annotations, because clients iterate over them without checking that they exist. */
function repairPart(part: ResponsesPart): ResponsesPart {
  const { type, text, annotations } = part;
  if (type !== undefined && type !== 'text' && type !== 'output_text') return part;
  if (typeof text !== 'string') return part;
  return withMembers(part, { type: 'output_text', annotations: Array.isArray(annotations) ? annotations : [] });
}

/** Reads an input as text, although some vendors send an object. */
export function readInputText(input: JsonValue | undefined): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) ? JSON.stringify(input) : '';
}

/** Returns the value if it is a non-empty text, otherwise the fallback. */
export function textOr(value: JsonValue | undefined, fallback: string): string {
  return asFilledText(value) ?? fallback;
}
