import type { ReplyReader, UpstreamRequest } from '#core/model-call/adapter.ts';
import type { Route } from '#core/catalog/catalog.ts';
import type { TextFormat } from '#core/catalog/formats.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { amenderFor } from './adapt-reply.ts';
import { amendRequest } from './adapt-request.ts';
import type { ClientRequest } from '../request/client-request.ts';
import type { Way } from '../model-call.ts';
import { PassThroughReader } from './reader.ts';
import { readerBetween } from '../translation/translator.ts';
import { isTextFormat } from '../translation/upstream-format.ts';
import { wires } from '../wire.ts';

/**
 * The way to a route that speaks the client's own format: bytes go through. Only the model's name changes, and what the
 * route would refuse or nobody else could read.
 */
export class PassThrough implements Way {
  readonly request: UpstreamRequest;
  readonly #exchange: Exchange;
  readonly #client: ClientRequest;
  readonly #route: Route;
  readonly #isResumable: boolean;
  /** Stop sequences that the route does not know of. */
  readonly #untold: readonly string[];

  /** @param isResumable the reply is read and written anew, so that another route can go on with it */
  constructor(exchange: Exchange, client: ClientRequest, route: Route, isResumable = false) {
    this.#isResumable = isResumable;
    this.#exchange = exchange;
    this.#client = client;
    this.#route = route;
    const { format, isStream, purpose } = client;
    const wire = wires[format];
    const { untold = [], ...amended } = amendRequest(client, route);
    this.#untold = untold;
    this.request = {
      format,
      path: wire.path(route.model, isStream, purpose),
      headers: {
        'content-type': 'application/json',
        accept: isStream ? 'text/event-stream' : 'application/json',
        ...wire.headers(exchange.headers),
      },
      ...amended,
    };
  }

  read(): ReplyReader {
    const { format } = this.#client;
    if ((this.#isResumable || this.#untold.length > 0) && isTextFormat(format)) return this.#readAnew(format);
    const amender = amenderFor(this.#client, this.#route);
    const converter = isTextFormat(format) ? () => this.#readAnew(format) : undefined;
    return new PassThroughReader(wires[format].observe(this.#exchange.id, this.#client.body), amender, converter);
  }

  #readAnew(format: TextFormat): ReplyReader {
    return readerBetween(this.#exchange, this.#client, this.#route, format, this.#untold);
  }
}
