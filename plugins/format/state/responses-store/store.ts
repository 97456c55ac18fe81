import { Readable } from 'node:stream';
import { listen } from '#core/config/sections/core-sections.ts';
import { delivery, principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { formatNotes, notesHeaderName } from '#core/gateway/model-call/notes-header.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { yieldIfLong } from '#core/platform/timing/turn.ts';
import { isSet } from '../../formats/adaptation/adapt-members.ts';
import { writeResponse } from '../../formats/responses/reply/reply-object.ts';
import { type ClientRequest, createReplyContext } from '../../request/client-request.ts';
import { RequestContent } from '../../request/request-content.ts';
import { readMember } from '../../wire/members.ts';
import type { ResponsesReply, ResponsesRequest } from '../../wire/responses.ts';
import { BackgroundRun, leaseMs } from './background-run.ts';
import { expandInput, isSelfContained } from './continuation.ts';
import { createJsonReply } from './endpoints.ts';
import { holdEnding } from './hold-ending.ts';
import { type ResponseDraft, Recorder } from './recorder.ts';
import { ResponseRows } from './rows.ts';
import { streamResponse } from './stream-tail.ts';

const responseDraft = defineFact<ResponseDraft>('response_draft');

/** Id of the response that a request continues, once the body contains that response's items. */
export const continuedId = defineFact<string>('continued_response');

/** All items of a request that continues a stored response. */
export const expandedItems = defineFact<readonly JsonValue[]>('expanded_items');

interface BackgroundDraft extends ResponseDraft {
  readonly isStream: boolean;
}

const backgroundDraft = defineFact<BackgroundDraft>('background_response');

interface StoredCall {
  finished(): JsonObject | undefined;
}

export const storedCall = defineFact<StoredCall>('model_call');

/**
 * Lets clients of the Responses format continue an answer by its id, on upstreams of any format. Replaces references in requests with the
 * items they name, and stores answers before the client has received their end.
 */
export class ResponsesStore {
  readonly #host: Host;
  readonly #recorder: Recorder;

  constructor(host: Host) {
    this.#host = host;
    this.#recorder = new Recorder(host);
  }

  /**
   * Replaces the references in a request with the items they name.
   *
   * @throws GatewayError see `expandInput`; `invalid_request` or `not_supported` for an invalid background response
   */
  enter(exchange: Exchange, request: ClientRequest): ClientRequest | Promise<ClientRequest> {
    return request.format.name === 'responses' ? this.#resolveReferences(exchange, request) : request;
  }

  async #resolveReferences(exchange: Exchange, request: ClientRequest): Promise<ClientRequest> {
    const host = this.#host;
    const continuedResponseId = exchange.find(continuedId);
    // If a request has no references and stores nothing, the outline of a long body is enough.
    const outline: ResponsesRequest = request.outline;
    if (outline.store === false && isSelfContained(outline))
      return continuedResponseId === undefined ? request : request.with({ previousId: continuedResponseId });
    if (request.content.isLong) await request.content.loadBody(exchange.body);
    const { previous_response_id: id, ...body }: ResponsesRequest = request.body;
    const previousId = typeof id === 'string' ? id : continuedResponseId;
    const accountId = exchange.find(principal)?.accountId;
    const rows = new ResponseRows(host.database);
    const maxBytes = () => host.section(listen).max_body_bytes;
    const { items, isExpanded } = await expandInput(request.body, { rows, accountId, now: host.now(), maxBytes });
    if (isExpanded) exchange.set(expandedItems, items);
    if (body.background === true && request.purpose === 'answer') {
      const backgroundAccountId = requireBackgroundAccount(request.body, accountId, this.#recorder.isEnabled);
      exchange.set(backgroundDraft, { accountId: backgroundAccountId, items, previousId, isStream: request.isStream });
      // OpenAI accepts `background_options` only together with `background`.
      const { background: _, background_options: options, ...requestBody } = body;
      const notes = isSet(options) ? ['dropped background_options'] : undefined;
      const streamingRequest = request.with({ previousId, isStream: true, notes });
      return replaceBody(streamingRequest, {
        ...requestBody,
        input: isExpanded ? [...items] : body.input,
        stream: true,
      });
    }
    if (accountId !== undefined && body.store !== false && request.purpose === 'answer')
      exchange.set(responseDraft, { accountId, items, previousId });
    if (isExpanded) return replaceBody(request.with({ previousId }), { ...body, input: [...items] });
    return previousId === undefined ? request : request.with({ previousId });
  }

  /**
   * Answers the client of a background response and detaches its exchange; undefined for other requests. Called once the request can no
   * longer be refused. The reply has the first route's notes, because no attempt has been made yet.
   *
   * @throws GatewayError `request_too_large`, `unavailable`
   */
  detach(
    exchange: Exchange,
    request: ClientRequest,
    call: { readonly expectedNotes: readonly string[] },
  ): Promise<void> | undefined {
    const draft = exchange.find(backgroundDraft);
    return draft === undefined ? undefined : this.#startRun(exchange, request, draft, call.expectedNotes);
  }

  async #startRun(
    exchange: Exchange,
    request: ClientRequest,
    draft: BackgroundDraft,
    notes: readonly string[],
  ): Promise<void> {
    const host = this.#host;
    const queuedResponse = writeResponse(createReplyContext(exchange, request), { status: 'queued', output: [] });
    const response: ResponsesReply = { ...queuedResponse, background: true };
    await this.#recorder.saveQueued(draft, response, leaseMs);
    const key = { accountId: draft.accountId, id: String(response.id) };
    if (exchange.isAborted) {
      await new ResponseRows(host.database).delete(key.accountId, key.id, host.now());
      return;
    }
    const run = new BackgroundRun(host, exchange, key, response);
    const reply = draft.isStream ? streamResponse(host, key, -1) : createJsonReply(response);
    const notesHeader = notes.length > 0 && { [notesHeaderName(host.service)]: formatNotes(notes) };
    await exchange.detach({ ...reply, headers: { ...reply.headers, ...notesHeader } }, run.takeReply);
  }

  /** Stores the answer unless the client sent `store: false`. Never fails. */
  leave(exchange: Exchange, reply: Reply): Promise<Reply> | Reply {
    const draft = exchange.find(responseDraft);
    const call = exchange.find(storedCall);
    const { body, status } = reply;
    if (draft === undefined || call === undefined || status !== 200 || body === null || !this.#recorder.isEnabled) {
      return reply;
    }
    const save = async (answer: JsonObject): Promise<string | undefined> => {
      const note = await this.#recorder.save(draft, answer);
      if (note !== undefined) addNote(exchange, note);
      return note;
    };
    if (!(body instanceof Readable)) return this.#storeNonStreaming(exchange, reply, call.finished(), save);
    if (!isEventStream(reply)) return reply;
    return { ...reply, body: holdEnding(body, () => call.finished(), save) };
  }

  async #storeNonStreaming(
    exchange: Exchange,
    reply: Reply,
    answer: JsonObject | undefined,
    save: (answer: JsonObject) => Promise<string | undefined>,
  ): Promise<Reply> {
    const { body } = reply;
    if (typeof body === 'string' || Buffer.isBuffer(body)) await yieldIfLong(body.length);
    const note = answer && (await save(answer));
    if (note === undefined) return reply;
    const notes = formatNotes(exchange.find(delivery)?.notes ?? [note]);
    const headers = { ...reply.headers, [notesHeaderName(this.#host.service)]: notes };
    // Events converted from a JSON answer are a single body too, but not JSON that could be changed.
    if (isEventStream(reply) || readMember<ResponsesReply>(answer, 'store') === false) return { ...reply, headers };
    const json = JSON.stringify({ ...answer, store: false });
    await yieldIfLong(json.length);
    const bytes = Buffer.from(json);
    await yieldIfLong(bytes.length);
    return { ...reply, headers, body: bytes };
  }
}

function requireBackgroundAccount(
  { store }: ResponsesRequest,
  accountId: string | undefined,
  isEnabled: boolean,
): string {
  if (store === false) {
    const message = 'A background response is stored until it is fetched. Omit `store` or `background`.';
    throw new GatewayError('invalid_request', message, { param: 'store' });
  }
  if (accountId !== undefined && isEnabled) return accountId;
  const message = 'This service does not store responses, so they cannot run in the background. Omit `background`.';
  throw new GatewayError('not_supported', message, { param: 'background' });
}

function isEventStream({ headers }: Reply): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

function addNote(exchange: Exchange, note: string): void {
  // A stream's headers have already been sent.
  const deliveryRecord = exchange.find(delivery);
  if (deliveryRecord !== undefined) deliveryRecord.notes = [...(deliveryRecord.notes ?? []), note];
}

/** The body may be long once its references are replaced, so each step has its own turn of the event loop. */
async function replaceBody(request: ClientRequest, body: JsonObject): Promise<ClientRequest> {
  await yieldIfLong(request.content.text.length);
  const text = JSON.stringify(body);
  await yieldIfLong(text.length);
  const bytes = Buffer.from(text);
  await yieldIfLong(text.length);
  return request.with({}, RequestContent.fromText(text, body, bytes));
}
