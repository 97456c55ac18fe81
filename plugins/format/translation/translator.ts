import type { ReplyReader, UpstreamRequest } from '#core/model-call/adapter.ts';
import type { Route } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { Format, TextFormat } from '#core/catalog/formats.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { ReplyDecoder } from '../canonical/codec.ts';
import type { Conversation } from '../canonical/conversation.ts';
import { promptTokens } from '../canonical/estimate.ts';
import { GrammarGuard } from '../canonical/guard.ts';
import { Notes } from '../canonical/notes.ts';
import type { Sealer } from '../canonical/open-block.ts';
import { originOf, tagState } from '../canonical/opaque-state.ts';
import { StopCutter } from '../canonical/stop-cutter.ts';
import { ToolNames } from '../canonical/tool-names.ts';
import { type ClientRequest, exactBody } from '../request/client-request.ts';
import { codecs, nameRules, ownKinds } from './codecs.ts';
import type { Way } from '../model-call.ts';
import { toldStops } from '../pass-through/reported-stops.ts';
import { TranslatingReader } from './reader.ts';
import { isTextFormat } from './upstream-format.ts';
import { wires } from '../wire.ts';

/** Reads the client's request once, for however many routes it has to be translated. */
export class Translator {
  readonly #exchange: Exchange;
  readonly #request: ClientRequest;
  readonly #notes = new Notes();
  #conversation: Conversation | undefined;

  constructor(exchange: Exchange, request: ClientRequest) {
    this.#exchange = exchange;
    this.#request = request;
  }

  /**
   * The client's request, and what of it found no place there.
   *
   * @throws GatewayError `invalid_request` when it cannot be understood, `not_supported`
   */
  read(): { readonly conversation: Conversation; readonly notes: Notes } {
    const { format } = this.#request;
    if (!isTextFormat(format)) {
      throw new GatewayError('not_supported', `${format} cannot be put into another format`, { param: 'model' });
    }
    this.#conversation ??= codecs[format].decodeRequest(exactBody(this.#request), this.#notes);
    return { conversation: this.#conversation, notes: this.#notes };
  }

  /**
   * @param conversation what to ask the route for; the client's request when left out
   * @throws GatewayError as `read`; `not_supported` also when the route cannot serve it
   */
  open(route: Route, to: Format, conversation?: Conversation): Translation {
    const read = this.read();
    if (!isTextFormat(to)) {
      throw new GatewayError('not_supported', `nothing can be put into ${to}`, { param: 'model' });
    }
    const notes = new Notes();
    notes.include(read.notes);
    return new Translation(this.#exchange, this.#request, conversation ?? read.conversation, route, to, notes);
  }
}

/** A request put into the format of a route. */
export class Translation implements Way {
  readonly request: UpstreamRequest;
  readonly #exchange: Exchange;
  readonly #client: ClientRequest;
  readonly #route: Route;
  readonly #to: TextFormat;
  readonly #names: ToolNames;
  readonly #origin: string;
  /** Stop sequences that the route does not know of. */
  #untold: readonly string[] = [];

  constructor(
    exchange: Exchange,
    client: ClientRequest,
    conversation: Conversation,
    route: Route,
    to: TextFormat,
    notes: Notes,
  ) {
    this.#exchange = exchange;
    this.#client = client;
    this.#route = route;
    this.#to = to;
    this.#names = new ToolNames(conversation, nameRules[to]);
    this.#origin = originOf(route.upstream);
    this.request = this.#encode(conversation, notes);
  }

  read(): ReplyReader {
    return readerBetween(this.#exchange, this.#client, this.#route, this.#to, this.#untold, this.#names);
  }

  /** Reads what the route adds to an answer that another has begun. @param sent the text of it so far */
  readAfter(broken: TranslatingReader, sent: string): ReplyReader {
    const decoder = createDecoder(this.#route, this.#to, this.#untold);
    return broken.continueWith(decoder, { names: this.#names, seal: sealerOf(this.#route) }, sent);
  }

  #encode(conversation: Conversation, notes: Notes): UpstreamRequest {
    const { model, traits } = this.#route;
    const { isStream } = this.#client;
    const origin = this.#origin;
    const own = ownKinds[this.#to];
    const body = codecs[this.#to].encodeRequest(conversation, {
      model,
      traits,
      isStream,
      names: this.#names,
      notes,
      open: (state) => (state?.origin === origin && own.includes(state.kind) ? state.data : undefined),
    });
    const told = toldStops[this.#to](body);
    this.#untold = conversation.stop.filter((sequence) => sequence !== '' && !told.includes(sequence));
    return {
      format: this.#to,
      path: wires[this.#to].path(model, isStream, 'answer'),
      headers: {
        'content-type': 'application/json',
        accept: isStream ? 'text/event-stream' : 'application/json',
        ...wires[this.#to].headers({}),
      },
      body: JSON.stringify(body),
      notes: notes.entries,
    };
  }
}

/**
 * Reads what a route answers in one format and writes it in the client's, which may be the same.
 *
 * @param untold stop sequences that the route does not know of
 * @param names under which the tools went there; left out, they went as they are
 */
export function readerBetween(
  exchange: Exchange,
  client: ClientRequest,
  route: Route,
  upstream: TextFormat,
  untold: readonly string[] = [],
  names: ToolNames = new ToolNames({ tools: [], items: [] }, nameRules[upstream]),
): TranslatingReader {
  const id = shortId(exchange.id);
  const guard = new GrammarGuard({
    names,
    seal: sealerOf(route),
    id,
    inputTokens: () => promptTokens(client.body),
  });
  const created = Math.floor(exchange.receivedAt / 1000);
  const encoder = codecs[client.format as TextFormat].createEncoder({
    id,
    model: client.model,
    created,
    request: client.body,
  });
  return new TranslatingReader(createDecoder(route, upstream, untold), guard, encoder);
}

function createDecoder({ traits }: Route, format: TextFormat, untold: readonly string[]): ReplyDecoder {
  const decoder = codecs[format].createDecoder(traits);
  return untold.length === 0 ? decoder : new StopCutter(decoder, untold);
}

function sealerOf({ upstream }: Route): Sealer {
  const origin = originOf(upstream);
  return (kind, data) => tagState({ kind, origin, data });
}

/** The exchange's id without its prefix: each format has its own. */
function shortId(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}
