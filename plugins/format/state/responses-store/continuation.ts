import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { collectItems, isContinuable, outputOf, type ResponseRows, type StoredResponse } from './rows.ts';
import type { ResponsesItem, ResponsesRequest } from '../../wire/responses.ts';
import { scalarText } from '../../wire/members.ts';

interface Lookup {
  readonly rows: ResponseRows;
  /** Undefined for callers without an account, for whom no responses are stored. */
  readonly accountId: string | undefined;
  readonly now: number; // epoch ms
  /** Maximum bytes of a request, including everything that it refers to. */
  maxBytes(): number;
}

/**
 * Whether a request refers to nothing stored and waits for its answer.
 *
 * @param body the whole body or its outline
 */
export function isSelfContained(body: ResponsesRequest): boolean {
  const { previous_response_id: previousId, conversation, background } = body;
  if (typeof previousId === 'string' || background === true || isConversation(conversation)) return false;
  return itemsOf(body.input).every((item) => referenceOf(item) === undefined);
}

function isConversation(conversation: JsonValue | undefined): boolean {
  return isJsonObject(conversation) || typeof conversation === 'string';
}

interface Expanded {
  /** The items of the continued response, then those of the request. */
  readonly items: readonly JsonValue[];
  /** True if items were added to the request's own. */
  readonly isExpanded: boolean;
}

/**
 * Puts the items of the continued response before those of the request, and replaces references by their items. Source: OpenAI API
 * reference, "Create a model response".
 *
 * @throws GatewayError `not_supported` for a conversation, `previous_response_not_found`, `request_too_large`,
 *   `unavailable`
 */
export async function expand(body: ResponsesRequest, lookup: Lookup): Promise<Expanded> {
  if (isConversation(body.conversation)) {
    const message = 'Conversations are not stored. Continue a response with `previous_response_id`.';
    throw new GatewayError('not_supported', message, { param: 'conversation' });
  }
  const items = itemsOf(body.input);
  const previousId = body.previous_response_id;
  const prefix = typeof previousId === 'string' ? itemsBehind(await findPrevious(previousId, lookup)) : [];
  const resolved = await resolveReferences(items, prefix, lookup);
  return { items: [...prefix, ...resolved], isExpanded: typeof previousId === 'string' || resolved !== items };
}

/** The input as a list of items; a string is a user message. */
function itemsOf(input: JsonValue | undefined): readonly JsonValue[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return Array.isArray(input) ? input : [];
}

function itemsBehind({ input, response }: StoredResponse): JsonValue[] {
  return [...input, ...outputOf(response)];
}

async function findPrevious(id: string, { rows, accountId, now }: Lookup): Promise<StoredResponse> {
  const found = accountId === undefined ? undefined : await rows.find(accountId, id, now).catch(unavailable);
  if (found !== undefined && isContinuable(found.response)) return found;
  if (found !== undefined) {
    const message = `The previous response is ${scalarText(found.response['status'])} and cannot be continued.`;
    throw new GatewayError('previous_response_not_found', message, { param: 'previous_response_id' });
  }
  const message = `Previous response with id '${id.slice(0, 200)}' not found. Send the whole conversation as \`input\`.`;
  throw new GatewayError('previous_response_not_found', message, { param: 'previous_response_id' });
}

/** Returns `items` itself if it contains no references. */
async function resolveReferences(
  items: readonly JsonValue[],
  prefix: readonly JsonValue[],
  { rows, accountId, now, maxBytes }: Lookup,
): Promise<readonly JsonValue[]> {
  const wanted = new Set(items.flatMap((item) => referenceOf(item) ?? []));
  if (wanted.size === 0) return items;
  const found = new Map<string, JsonObject>();
  collectItems(prefix, wanted, found);
  // A WebSocket session puts the items of its conversation before those of the request.
  const complete = items.filter((item) => referenceOf(item) === undefined);
  collectItems(complete, wanted, found);
  const missing = [...wanted].filter((id) => !found.has(id));
  if (missing.length > 0 && accountId !== undefined) {
    const others = await rows.findItems(accountId, missing, now).catch(unavailable);
    for (const [id, item] of others) found.set(id, item);
  }
  const sizes = new Map([...found].map(([id, item]) => [id, JSON.stringify(item).length]));
  const limit = maxBytes();
  let room = limit;
  return items.map((item, index) => {
    const id = referenceOf(item);
    if (id === undefined) return item;
    room -= sizes.get(id) ?? 0;
    if (room < 0) throw new GatewayError('request_too_large', `The referenced items exceed ${limit} bytes.`);
    return found.get(id) ?? refuseReference(id, index);
  });
}

/** The id in a reference. An item without a type is a reference if it has no member besides its id. */
function referenceOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const { id, type }: ResponsesItem = item;
  if (typeof id !== 'string') return undefined;
  const isBare = (type ?? null) === null && Object.keys(item).every((name) => name === 'id' || name === 'type');
  return isBare || type === 'item_reference' ? id : undefined;
}

function refuseReference(id: string, index: number): never {
  const message = `Item with id '${id.slice(0, 200)}' not found. Send the item itself.`;
  throw new GatewayError('previous_response_not_found', message, { param: `input[${index}]` });
}

/** Without the database, a request that continues a stored response cannot be served. */
export function unavailable(cause: unknown): never {
  throw new GatewayError('unavailable', 'Stored responses are unavailable. Try again.', {
    retryAfter: 1,
    cause,
  });
}
