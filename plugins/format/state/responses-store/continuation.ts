import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { scalarToText } from '../../wire/members.ts';
import type { ResponsesItem, ResponsesRequest } from '../../wire/responses.ts';
import { omitRepeatedAnswer } from './repeated-answer.ts';
import { collectItems, isContinuable, outputOf, type ResponseRows, type StoredResponse } from './rows.ts';

interface ReferenceLookup {
  readonly rows: ResponseRows;
  readonly accountId: string | undefined;
  readonly now: number; // epoch ms
  maxBytes(): number; // of a request with everything that it refers to
}

/** Returns true if a request does not refer to stored data and its client waits for the answer. The outline of the body is enough. */
export function isSelfContained(body: ResponsesRequest): boolean {
  const { previous_response_id: previousId, conversation, background } = body;
  if (typeof previousId === 'string' || background === true || isConversation(conversation)) return false;
  return toInputItems(body.input).every((item) => readReference(item) === undefined);
}

function isConversation(conversation: JsonValue | undefined): boolean {
  return isJsonObject(conversation) || typeof conversation === 'string';
}

interface ExpandedInput {
  readonly items: readonly JsonValue[]; // the continued conversation, then the request's items
  readonly isExpanded: boolean;
}

/**
 * Inserts the conversation of the response that is continued before the request's items, and replaces references with the items they name.
 * Source: OpenAI API reference, "Create a model response".
 *
 * @throws GatewayError `not_supported` for a conversation, `previous_response_not_found`, `request_too_large`, `unavailable`
 */
export async function expandInput(body: ResponsesRequest, lookup: ReferenceLookup): Promise<ExpandedInput> {
  if (isConversation(body.conversation)) {
    const message = 'Conversations are not stored. Continue a response with `previous_response_id`.';
    throw new GatewayError('not_supported', message, { param: 'conversation' });
  }
  const items = toInputItems(body.input);
  const previousId = body.previous_response_id;
  if (typeof previousId !== 'string') {
    const resolvedItems = await resolveReferences(items, [], lookup);
    return { items: resolvedItems, isExpanded: resolvedItems !== items };
  }
  const { input, response } = await findPrevious(previousId, lookup);
  const answer = outputOf(response);
  const previousItems = [...input, ...answer];
  const resolvedItems = await resolveReferences(items, previousItems, lookup);
  return { items: [...previousItems, ...omitRepeatedAnswer(resolvedItems, answer)], isExpanded: true };
}

function toInputItems(input: JsonValue | undefined): readonly JsonValue[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : [];
}

async function findPrevious(id: string, { rows, accountId, now }: ReferenceLookup): Promise<StoredResponse> {
  const previousResponse =
    accountId === undefined ? undefined : await rows.find(accountId, id, now).catch(throwUnavailable);
  if (previousResponse !== undefined && isContinuable(previousResponse.response)) return previousResponse;
  if (previousResponse !== undefined) {
    const message = `The previous response is ${scalarToText(previousResponse.response['status'])} and cannot be continued.`;
    throw new GatewayError('previous_response_not_found', message, { param: 'previous_response_id' });
  }
  const message = `Previous response with id '${id.slice(0, 200)}' not found. Send the whole conversation as \`input\`.`;
  throw new GatewayError('previous_response_not_found', message, { param: 'previous_response_id' });
}

/** Returns `items` itself if it has no references. */
async function resolveReferences(
  items: readonly JsonValue[],
  prefix: readonly JsonValue[],
  { rows, accountId, now, maxBytes }: ReferenceLookup,
): Promise<readonly JsonValue[]> {
  const referencedIds = new Set(items.flatMap((item) => readReference(item) ?? []));
  if (referencedIds.size === 0) return items;
  const itemsById = new Map<string, JsonObject>();
  collectItems(prefix, referencedIds, itemsById);
  // On a WebSocket, the items include the continued conversation.
  const itemsWithoutReferences = items.filter((item) => readReference(item) === undefined);
  collectItems(itemsWithoutReferences, referencedIds, itemsById);
  const missingIds = [...referencedIds].filter((id) => !itemsById.has(id));
  if (missingIds.length > 0 && accountId !== undefined) {
    const storedItems = await rows.findItems(accountId, missingIds, now).catch(throwUnavailable);
    for (const [id, item] of storedItems) itemsById.set(id, item);
  }
  const sizes = new Map([...itemsById].map(([id, item]) => [id, JSON.stringify(item).length]));
  const limit = maxBytes();
  let remainingBytes = limit;
  return items.map((item, index) => {
    const id = readReference(item);
    if (id === undefined) return item;
    remainingBytes -= sizes.get(id) ?? 0;
    if (remainingBytes < 0) throw new GatewayError('request_too_large', `The referenced items exceed ${limit} bytes.`);
    return itemsById.get(id) ?? refuseReference(id, index);
  });
}

function readReference(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { id, type }: ResponsesItem = item;
  if (typeof id !== 'string') return undefined;
  // An item without a type is a reference if it has only an id.
  const isBare = (type ?? null) === null && Object.keys(item).every((name) => name === 'id' || name === 'type');
  return isBare || type === 'item_reference' ? id : undefined;
}

function refuseReference(id: string, index: number): never {
  const message = `Item with id '${id.slice(0, 200)}' not found. Send the item itself.`;
  throw new GatewayError('previous_response_not_found', message, { param: `input[${index}]` });
}

export function throwUnavailable(cause: unknown): never {
  throw new GatewayError('unavailable', 'Stored responses are unavailable. Try again.', {
    retryAfter: 1,
    cause,
  });
}
