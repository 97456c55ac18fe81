import type { Route } from '#core/config/catalog/catalog.ts';
import { type Profile, profileIn } from '#core/config/catalog/profile.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { deriveOrigin } from '../../canonical/opaque-state.ts';
import { requiresReasoning } from '../../canonical/reasoning.ts';
import { ContentDigest } from '../../content/content-digest.ts';
import { selectBetaHeaders } from '../../formats/adaptation/beta-headers.ts';
import { isTextFormat, type TextFormat } from '../../formats/contract/descriptor.ts';
import type { ReplyListeners } from '../../formats/contract/fragment-observer.ts';
import { NonStreamingObserver } from '../../formats/contract/non-streaming-observer.ts';
import type { ReplyObserver } from '../../formats/contract/pass-through.ts';
import { type ClientRequest, createReplyContext } from '../../request/client-request.ts';
import type { PreparedCall } from '../translation/prepared-call.ts';
import { createGuard, createReader, createUnchangedNames } from '../translation/translator.ts';
import { adaptRequest } from './adapt-request.ts';
import { BytesReader } from './bytes-reader.ts';
import { ModelNamer } from './model-namer.ts';
import { PassThroughReader } from './reader.ts';

/**
 * A call for a route of the client's format. Its bytes pass through, except for the model's name and members that the route would refuse or
 * that other upstreams could not read.
 */
export class PassThrough implements PreparedCall {
  readonly request: UpstreamRequest;
  readonly #exchange: Exchange;
  readonly #client: ClientRequest;
  readonly #route: Route;
  readonly #isResumable: boolean;
  readonly #gatewayStops: readonly string[];

  /** @param isResumable true to decode and encode the reply, so that another route can continue it */
  constructor(exchange: Exchange, client: ClientRequest, route: Route, isResumable = false) {
    this.#isResumable = isResumable;
    this.#exchange = exchange;
    this.#client = client;
    this.#route = route;
    const { format, isStream, purpose, upstreamPath } = client;
    const { gatewayStops = [], ...adapted } = adaptRequest(client, route);
    this.#gatewayStops = gatewayStops;
    const profile = profileIn(format.name, route.profile);
    this.request = {
      format: format.name,
      path: upstreamPath ?? format.path(route.model, isStream, purpose, profile.quirks),
      headers: {
        'content-type': 'application/json',
        accept: selectAcceptedTypes(client),
        ...format.headers,
        ...selectBetaHeaders(exchange.headers, client.outline, format, profile),
      },
      ...adapted,
    };
  }

  createReader(): ReplyReader {
    const { format, purpose } = this.#client;
    const isText = isTextFormat(format);
    if ((this.#isResumable || this.#gatewayStops.length > 0) && isText) return this.#createTranslatingReader(format);
    const { client } = format;
    const isAnswer = purpose === 'answer';
    const { upstream, profile } = this.#route;
    const isBytes = client.createByteTypeTest?.(this.#client.outline);
    const content = isAnswer && format.client.text !== undefined ? new ContentDigest() : undefined;
    const reader = new PassThroughReader(
      this.#createObserver(content),
      { id: this.#exchange.id, dialect: format.dialect },
      {
        repair: isAnswer
          ? client.createReplyRepair?.(
              createReplyContext(this.#exchange, this.#client),
              profileIn(format.name, profile),
            )
          : undefined,
        adapter: isAnswer ? client.createReplyAdapter?.(this.#client, deriveOrigin(upstream)) : undefined,
        namer: isAnswer && client.modelPlace ? new ModelNamer(this.#client.model, client.modelPlace) : undefined,
        converter: isText ? () => this.#createTranslatingReader(format) : undefined,
        readLargeUsage: client.readLargeUsage,
        content,
      },
    );
    return isBytes === undefined ? reader : new BytesReader(isBytes, reader);
  }

  #createObserver(content: ContentDigest | undefined): ReplyObserver {
    const { format, purpose, outline, thread } = this.#client;
    if (purpose === 'count') return new NonStreamingObserver('input_tokens', 'totalTokens');
    const { upstream } = this.#route;
    const profile = profileIn(format.name, this.#route.profile);
    const onReplyId = thread && ((id: string) => thread.store(id, deriveOrigin(upstream)));
    return format.client.createObserver(outline, {
      profile,
      onReplyId,
      content,
      onFragments: this.#createReasoningListener(profile),
    });
  }

  #createReasoningListener(profile: Profile): ReplyListeners['onFragments'] {
    const { format, storedReasoning } = this.#client;
    if (storedReasoning === undefined || !isTextFormat(format) || !requiresReasoning(profile, true)) return undefined;
    const guard = createGuard(this.#exchange, this.#client, this.#route, createUnchangedNames(format));
    return (fragments, isFinished) => {
      guard.push(fragments);
      // Some vendors omit the format's last event.
      if (isFinished) guard.close();
    };
  }

  #createTranslatingReader(format: TextFormat): ReplyReader {
    return createReader(this.#exchange, this.#client, this.#route, format, { gatewayStops: this.#gatewayStops });
  }
}

function selectAcceptedTypes({ format, isStream, outline }: ClientRequest): string {
  if (isStream) return 'text/event-stream';
  return format.client.createByteTypeTest?.(outline) === undefined ? 'application/json' : '*/*';
}
