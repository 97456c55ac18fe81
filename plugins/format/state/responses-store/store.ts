import { Readable } from 'node:stream';
import { listen } from '#core/config/sections/core-sections.ts';
import { delivery, principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineFact } from '#core/gateway/pipeline/fact.ts';
import type { Reply } from '#core/gateway/pipeline/reply.ts';
import { formatNotes, notesHeaderName } from '#core/gateway/model-call/notes-header.ts';
import { turnFor } from '#core/platform/timing/turn.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { ReplyContext } from '../../canonical/codec.ts';
import { isSet } from '../../formats/adaptation/adapt-members.ts';
import { writeResponse } from '../../formats/responses/reply/reply-object.ts';
import { type ClientRequest, createReplyContext } from '../../request/client-request.ts';
import { RequestContent } from '../../request/request-content.ts';
import { member } from '../../wire/members.ts';
import { BackgroundRun, lease } from './background-run.ts';
import { expand, isSelfContained } from './continuation.ts';
import { json } from './endpoints.ts';
import { holdEnding } from './hold-ending.ts';
import { type Draft, Recorder } from './recorder.ts';
import { ResponseRows } from './rows.ts';
import { streamOf } from './stream-tail.ts';
import type { ResponsesReply, ResponsesRequest } from '../../wire/responses.ts';

const draft = defineFact<Draft>('response_draft');

/** Id of the response that a request continues, whose items are in its body already. */
export const continuedId = defineFact<string>('continued_response');

/** All items of a request that continues a stored response. */
export const expandedItems = defineFact<readonly JsonValue[]>('expanded_items');

/** A request whose client does not wait for the response. */
interface Background extends Draft {
  readonly isStream: boolean;
}

const background = defineFact<Background>('background_response');

interface StoredCall {
  /** The finished answer as the client gets it; undefined until then. */
  finished(): JsonObject | undefined;
}

export const storedCall = defineFact<StoredCall>('model_call');

/**
 * Lets clients of the Responses format continue an answer by its id, on upstreams of any format: requests get the items
 * that they refer to, and answers are stored before the client has their end.
 */
export class ResponsesStore {
  readonly #host: Host;
  readonly #recorder: Recorder;

  constructor(host: Host) {
    this.#host = host;
    this.#recorder = new Recorder(host);
  }

  /**
   * Returns the request with the items that it refers to in place of the references.
   *
   * @throws GatewayError what `expand` throws; for a background response also `invalid_request`, `not_supported`
   */
  enter(exchange: Exchange, request: ClientRequest): ClientRequest | Promise<ClientRequest> {
    return request.format.name === 'responses' ? this.#resolve(exchange, request) : request;
  }

  async #resolve(exchange: Exchange, request: ClientRequest): Promise<ClientRequest> {
    const host = this.#host;
    const named = exchange.find(continuedId);
    // A request without references that stores nothing needs only the outline of a long body.
    const outline: ResponsesRequest = request.outline;
    if (outline.store === false && isSelfContained(outline))
      return named === undefined ? request : request.with({ previousId: named });
    if (request.content.isLong) await request.content.loadBody(exchange.body);
    const { previous_response_id: id, ...body }: ResponsesRequest = request.body;
    const previousId = typeof id === 'string' ? id : named;
    const accountId = exchange.find(principal)?.accountId;
    const rows = new ResponseRows(host.database);
    const maxBytes = () => host.section(listen).max_body_bytes;
    const { items, isExpanded } = await expand(request.body, { rows, accountId, now: host.now(), maxBytes });
    if (isExpanded) exchange.set(expandedItems, items);
    if (body.background === true && request.purpose === 'answer') {
      const own = readBackground(request.body, accountId, this.#recorder.isEnabled);
      exchange.set(background, { accountId: own, items, previousId, isStream: request.isStream });
      // The vendor allows the options of its own background jobs beside them only.
      const { background: _, background_options: options, ...asked } = body;
      const notes = isSet(options) ? ['dropped background_options'] : undefined;
      const wanted = request.with({ previousId, isStream: true, notes });
      return withBody(wanted, { ...asked, input: isExpanded ? [...items] : body.input, stream: true });
    }
    if (accountId !== undefined && body.store !== false && request.purpose === 'answer')
      exchange.set(draft, { accountId, items, previousId });
    if (isExpanded) return withBody(request.with({ previousId }), { ...body, input: [...items] });
    return previousId === undefined ? request : request.with({ previousId });
  }

  /**
   * Answers a client that does not wait for its response, and lets it go on. Called when nothing can refuse the request any
   * more. Undefined for any other. The notes are those of the first route: no attempt has been made yet.
   *
   * @throws GatewayError `request_too_large`, `unavailable`
   */
  detach(
    exchange: Exchange,
    request: ClientRequest,
    call: { readonly expectedNotes: readonly string[] },
  ): Promise<void> | undefined {
    const begun = exchange.find(background);
    return begun === undefined ? undefined : this.#run(exchange, request, begun, call.expectedNotes);
  }

  async #run(exchange: Exchange, request: ClientRequest, begun: Background, notes: readonly string[]): Promise<void> {
    const host = this.#host;
    const queued = queuedResponse(createReplyContext(exchange, request));
    await this.#recorder.begin(begun, queued, host.now() + lease);
    const key = { accountId: begun.accountId, id: String(queued.id) };
    if (exchange.isAborted) {
      await new ResponseRows(host.database).delete(key.accountId, key.id, host.now());
      return;
    }
    const run = new BackgroundRun(host, exchange, key, queued);
    const reply = begun.isStream ? streamOf(host, key, -1) : json(queued);
    const noted = notes.length > 0 && { [notesHeaderName(host.service)]: formatNotes(notes) };
    await exchange.detach({ ...reply, headers: { ...reply.headers, ...noted } }, run.take);
  }

  /** Stores the answer if the client wants that. Never fails. */
  leave(exchange: Exchange, reply: Reply): Promise<Reply> | Reply {
    const begun = exchange.find(draft);
    const call = exchange.find(storedCall);
    const { body, status } = reply;
    if (begun === undefined || call === undefined || status !== 200 || body === null || !this.#recorder.isEnabled) {
      return reply;
    }
    const save = async (answer: JsonObject): Promise<string | undefined> => {
      const note = await this.#recorder.save(begun, answer);
      if (note !== undefined) addNote(exchange, note);
      return note;
    };
    if (!(body instanceof Readable)) return this.#storeWhole(exchange, reply, call.finished(), save);
    if (!isEventStream(reply)) return reply;
    return { ...reply, body: holdEnding(body, () => call.finished(), save) };
  }

  async #storeWhole(
    exchange: Exchange,
    reply: Reply,
    answer: JsonObject | undefined,
    save: (answer: JsonObject) => Promise<string | undefined>,
  ): Promise<Reply> {
    const { body } = reply;
    if (typeof body === 'string' || Buffer.isBuffer(body)) await turnFor(body.length);
    const note = answer && (await save(answer));
    if (note === undefined) return reply;
    const notes = formatNotes(exchange.find(delivery)?.notes ?? [note]);
    const headers = { ...reply.headers, [notesHeaderName(this.#host.service)]: notes };
    // Events that were converted from a JSON answer arrive as one body, too.
    if (isEventStream(reply) || member<ResponsesReply>(answer, 'store') === false) return { ...reply, headers };
    const written = JSON.stringify({ ...answer, store: false });
    await turnFor(written.length);
    const bytes = Buffer.from(written);
    await turnFor(bytes.length);
    return { ...reply, headers, body: bytes };
  }
}

/**
 * The account of a request for a background response.
 *
 * @throws GatewayError `not_supported` where nothing is stored, `invalid_request` for a response that must not be
 */
function readBackground({ store }: ResponsesRequest, accountId: string | undefined, isEnabled: boolean): string {
  if (store === false) {
    const message = 'A background response is stored until it is fetched. Leave out `store`, or `background`.';
    throw new GatewayError('invalid_request', message, { param: 'store' });
  }
  if (accountId !== undefined && isEnabled) return accountId;
  const message = 'This service stores no responses, so none can run in the background. Leave out `background`.';
  throw new GatewayError('not_supported', message, { param: 'background' });
}

function queuedResponse(context: ReplyContext): ResponsesReply {
  return { ...writeResponse(context, { status: 'queued', output: [] }), background: true };
}

function isEventStream({ headers }: Reply): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** For the record: a stream's headers have been sent by then. */
function addNote(exchange: Exchange, note: string): void {
  const served = exchange.find(delivery);
  if (served !== undefined) served.notes = [...(served.notes ?? []), note];
}

/** The request's own body and its references are long together: each step has a turn of the event loop. */
async function withBody(request: ClientRequest, body: JsonObject): Promise<ClientRequest> {
  await turnFor(request.content.text.length);
  const text = JSON.stringify(body);
  await turnFor(text.length);
  const bytes = Buffer.from(text);
  await turnFor(text.length);
  return request.with({}, RequestContent.fromText(text, body, bytes));
}
