import { Readable } from 'node:stream';
import { listen } from '#core/config/sections.ts';
import { delivery, principal } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import { type JsonValue, parseObject } from '#core/json.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineFact } from '#core/pipeline/fact.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { formatNotes, notesHeaderName } from '#core/model-call/notes-header.ts';
import type { ClientRequest } from '../request/client-request.ts';
import { AccountRoom } from './account-room.ts';
import { expand } from './continuation.ts';
import { type Draft, Recorder, type Shared } from './recorder.ts';
import { ResponseRows } from './rows.ts';
import { responsesSection } from './section.ts';
import { watchStream } from './watch-stream.ts';

const draft = defineFact<Draft>('response_draft');

/**
 * Lets clients of the Responses format go on from an answer by its id, whatever the upstream speaks: requests get what
 * they refer to, and answers are kept before the client has their end.
 */
export class ResponsesStore {
  readonly #host: Host;
  readonly #shared: Shared = { rest: { until: 0 }, room: new AccountRoom() };

  constructor(host: Host) {
    this.#host = host;
  }

  /**
   * Returns the request with everything that it refers to in it, and none of the references.
   *
   * @throws GatewayError what `expand` throws
   */
  async enter(exchange: Exchange, request: ClientRequest): Promise<ClientRequest> {
    if (exchange.endpoint.name !== 'responses') return request;
    const host = this.#host;
    const { body } = request;
    const accountId = exchange.find(principal)?.accountId;
    const rows = new ResponseRows(host.database);
    const maxBytes = () => host.section(listen).max_body_bytes;
    const { items, isExpanded } = await expand(body, { rows, accountId, now: host.now(), maxBytes });
    const previousId = typeof body['previous_response_id'] === 'string' ? body['previous_response_id'] : undefined;
    if (accountId !== undefined || previousId !== undefined) {
      exchange.set(draft, { accountId, items, previousId, isWanted: body['store'] !== false });
    }
    return isExpanded ? withItems(request, items) : request;
  }

  /** Keeps the answer, if that is wanted. Never fails, whatever becomes of it. */
  leave(exchange: Exchange, reply: Reply): Promise<Reply> | Reply {
    const begun = exchange.find(draft);
    if (begun === undefined || reply.status !== 200 || reply.body === null) return reply;
    const recorder = new Recorder(this.#host, begun, this.#host.section(responsesSection), this.#shared);
    const { body } = reply;
    const note = (text: string) => addNote(exchange, text);
    if (!(body instanceof Readable))
      return keepWhole(reply, body.toString(), recorder, { header: notesHeaderName(this.#host.service), add: note });
    const isEventStream = reply.headers['content-type']?.startsWith('text/event-stream') === true;
    return isEventStream && recorder.hasWork ? { ...reply, body: watchStream(body, recorder, note) } : reply;
  }
}

type Note = (text: string) => void;

async function keepWhole(
  reply: Reply,
  text: string,
  recorder: Recorder,
  notes: { readonly header: string; readonly add: Note },
): Promise<Reply> {
  const body = recorder.withPreviousId(text);
  const response = parseObject(body);
  const loss = response && (await recorder.save(response));
  if (loss === undefined) return { ...reply, body };
  notes.add(loss);
  const said = reply.headers[notes.header]?.split('; ') ?? [];
  return {
    ...reply,
    headers: { ...reply.headers, [notes.header]: formatNotes([...said, loss]) },
    body: response?.['store'] === false ? body : JSON.stringify({ ...response, store: false }),
  };
}

/** For the record. Where no route has served there is none that would have notes. */
function addNote(exchange: Exchange, text: string): void {
  const served = exchange.find(delivery);
  if (served !== undefined) served.notes = [...(served.notes ?? []), text];
}

function withItems(request: ClientRequest, items: readonly JsonValue[]): ClientRequest {
  const { previous_response_id: _, ...rest } = request.body;
  const body = { ...rest, input: [...items] };
  const text = JSON.stringify(body);
  return { ...request, body, text, bytes: Buffer.from(text) };
}
