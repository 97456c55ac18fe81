import { createHash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { normalizeInput } from '../../../canonical/stored-reasoning.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asFilledText, keepIfSame } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';

/** Returns undefined for items that the client does not run. */
export function inputMemberOf(type: string): 'arguments' | 'input' | undefined {
  if (type === 'function_call') return 'arguments';
  return type === 'custom_tool_call' ? 'input' : undefined;
}

export function isSameCall(first: ResponsesItem, second: ResponsesItem): boolean {
  const type = typeOf(first);
  const input = inputMemberOf(type);
  if (input === undefined || typeOf(second) !== type || first.name !== second.name) return false;
  return normalizeInput(readInputText(first[input])) === normalizeInput(readInputText(second[input]));
}

export function digestInput(item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item) || asFilledText(item['call_id']) === undefined) return undefined;
  const { arguments: argumentsValue, input = argumentsValue }: ResponsesItem = item;
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  return createHash('sha256').update(normalizeInput(text)).digest('base64');
}

/** Some vendors omit the type of messages. */
export function typeOf(item: ResponsesItem): string {
  return textOr(item.type, 'message');
}

/** How an event identifies its item; undefined where missing. */
export interface VendorNames {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  readonly inputDigest: string | undefined;
}

export interface ItemNames {
  readonly id: string;
  /** The call's id, unique within its answer. */
  readonly callId: string;
}

/** Adds the members that the SDK's types require. Returns the same object if none is missing. */
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

/** Returns the same object if it already has the members. */
export function withMembers<T extends object>(object: T, members: NoInfer<T>): T {
  for (const name in members) if (object[name] !== members[name]) return { ...object, ...members };
  return object;
}

/** Omits the content that the item's events carry. */
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

function repairPart(part: ResponsesPart): ResponsesPart {
  const { type, text, annotations } = part;
  if (type !== undefined && type !== 'text' && type !== 'output_text') return part;
  if (typeof text !== 'string') return part;
  // Clients iterate over annotations without checking that they exist.
  return withMembers(part, { type: 'output_text', annotations: Array.isArray(annotations) ? annotations : [] });
}

/** Some vendors send an object. */
export function readInputText(input: JsonValue | undefined): string {
  if (typeof input === 'string') return input;
  return isJsonObject(input) ? JSON.stringify(input) : '';
}

export function textOr(value: JsonValue | undefined, fallback: string): string {
  return asFilledText(value) ?? fallback;
}
