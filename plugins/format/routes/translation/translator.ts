import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Conversation } from '../../canonical/conversation.ts';
import { promptTokens } from '../../canonical/estimate.ts';
import { TranslatedContent } from '../../content/translated-content.ts';
import { GrammarGuard } from '../../canonical/guard.ts';
import { Notes } from '../../canonical/notes.ts';
import { originOf, tagState } from '../../canonical/opaque-state.ts';
import type { StateTagger } from '../../canonical/block-queue.ts';
import { StopCutter } from '../../canonical/stop-cutter.ts';
import { ToolNames } from '../../canonical/tool-names.ts';
import {
  type ClientTextFormat,
  type FormatDescriptor,
  isClientTextFormat,
  isTextFormat,
  type TextFormat,
} from '../../formats/contract/descriptor.ts';
import { refuseBindingChoices } from '../../formats/adaptation/account-choices.ts';
import { cacheMarkFor, type ClientRequest, endUserFor, replyContext, shortId } from '../../request/client-request.ts';
import { restoreReasoning, takesReasoningText } from '../../state/kept-reasoning/restore.ts';
import { encodeForRoute, ownStateFor } from './encode-for-route.ts';
import type { PreparedCall } from './prepared-call.ts';
import { TranslatingReader, type UpstreamReply } from './reader.ts';

/** Decodes the client's request once for all routes that need a translation. */
export class CallTranslator {
  readonly #exchange: Exchange;
  readonly #request: ClientRequest;
  readonly #notes = new Notes();
  #conversation: Conversation | undefined;

  constructor(exchange: Exchange, request: ClientRequest) {
    this.#exchange = exchange;
    this.#request = request;
  }

  /**
   * The decoded request, with notes on members that a conversation cannot hold.
   *
   * @throws GatewayError `invalid_request` if it cannot be decoded, `not_supported`
   */
  read(): { readonly conversation: Conversation; readonly notes: Notes } {
    const { format } = this.#request;
    if (!isClientTextFormat(format)) {
      const message = `Requests in the ${format.name} format cannot be translated into another format.`;
      throw new GatewayError('not_supported', message, { param: 'model' });
    }
    this.#conversation ??= this.#decode(format);
    return { conversation: this.#conversation, notes: this.#notes };
  }

  #decode(format: ClientTextFormat): Conversation {
    const { exact } = this.#request.content;
    refuseBindingChoices(exact);
    return format.client.text.decodeRequest(exact, this.#notes);
  }

  /**
   * @param conversation conversation to send; by default the client's request
   * @throws GatewayError like `read`, and `not_supported` if the route cannot serve the request
   */
  open(route: Route, to: FormatDescriptor, conversation?: Conversation): Translation {
    const read = this.read();
    if (!isTextFormat(to)) {
      const message = `Requests cannot be translated into the ${to.name} format.`;
      throw new GatewayError('not_supported', message, { param: 'model' });
    }
    const notes = new Notes();
    notes.include(read.notes);
    return new Translation(this.#exchange, this.#request, conversation ?? read.conversation, route, to, notes);
  }
}

/** A request translated into the format of a route. */
export class Translation implements PreparedCall {
  readonly request: UpstreamRequest;
  readonly #exchange: Exchange;
  readonly #client: ClientRequest;
  readonly #route: Route;
  readonly #to: TextFormat;
  readonly #names: ToolNames;
  readonly #origin: string;
  readonly #isStructured: boolean;
  /** Stop sequences that the route does not support; the gateway cuts the answer at them. */
  #localStops: readonly string[] = [];

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
    this.#names = new ToolNames(conversation, to.text.toolNames);
    this.#origin = originOf(route.upstream);
    this.#isStructured = conversation.output !== undefined;
    this.request = this.#encode(conversation, notes);
  }

  read(): ReplyReader {
    const names = this.#names;
    const content = contentFor(this.#client);
    const guard = guardOf(this.#exchange, this.#client, this.#route, names, this.#to, this.#isStructured, content);
    return readerBetween(this.#exchange, this.#client, this.#route, this.#to, this.#localStops, content, guard);
  }

  /**
   * Reads the continuation of an answer that another route began.
   *
   * @param sent text of the answer so far
   */
  readAfter(broken: TranslatingReader, sent: string): ReplyReader {
    const reply = openReply(this.#route, this.#to, this.#localStops);
    return broken.continueWith(reply, { names: this.#names, tag: taggerOf(this.#route) }, sent);
  }

  #encode(conversation: Conversation, notes: Notes): UpstreamRequest {
    const { model } = this.#route;
    const profile = profileIn(this.#to.name, this.#route.profile);
    const { isStream } = this.#client;
    const { text } = this.#to;
    const body = encodeForRoute(
      this.#to,
      this.#restored(conversation),
      {
        model,
        profile,
        isStream,
        names: this.#names,
        notes,
        endUser: endUserFor(this.#client, this.#route),
        cacheMark: cacheMarkFor(this.#client, this.#route),
      },
      this.#origin,
      this.#route.upstream,
    );
    const reported = text.readStopSequences(body);
    this.#localStops = conversation.stop.filter((sequence) => sequence !== '' && !reported.includes(sequence));
    return {
      format: this.#to.name,
      path: this.#to.path(model, isStream, 'answer', profile.quirks),
      headers: {
        'content-type': 'application/json',
        accept: isStream ? (text.stream?.type ?? 'text/event-stream') : 'application/json',
        ...this.#to.headers,
      },
      body: JSON.stringify(body),
      notes: notes.entries,
    };
  }

  #restored(conversation: Conversation): Conversation {
    const { kept } = this.#client;
    if (kept === undefined) return conversation;
    const ownState = ownStateFor(this.#to, this.#origin);
    const takesText = takesReasoningText(this.#to, this.#route);
    return restoreReasoning(conversation, kept, { takesText, origin: this.#origin, ownState });
  }
}

/**
 * Decodes the answer of a route and encodes it in the client's format, which may be the same.
 *
 * @param localStops stop sequences that the route does not support
 * @param guard maps the tool names that were sent to the route; by default, names were sent unchanged
 */
export function readerBetween(
  exchange: Exchange,
  client: ClientRequest,
  route: Route,
  upstream: TextFormat,
  localStops: readonly string[] = [],
  content: TranslatedContent = contentFor(client),
  guard: GrammarGuard = guardOf(exchange, client, route, sameNames(upstream), upstream, false, content),
): TranslatingReader {
  const context = replyContext(exchange, client);
  const encoder = (client.format as ClientTextFormat).client.text.createEncoder(context);
  return new TranslatingReader(openReply(route, upstream, localStops), guard, encoder, content);
}

function contentFor({ format, outline }: ClientRequest): TranslatedContent {
  return new TranslatedContent(format.client.text?.describeContentForm?.(outline));
}

function sameNames({ text }: TextFormat): ToolNames {
  return new ToolNames({ tools: [], items: [] }, text.toolNames);
}

/**
 * Creates the guard for the answer of a route. Reasoning that the client will not send back is stored.
 *
 * @param upstream format of the answer; by default the client's
 * @param isStructured whether the client requested an output format
 * @param received receives the content of the answer
 */
export function guardOf(
  exchange: Exchange,
  client: ClientRequest,
  route: Route,
  names: ToolNames,
  upstream: FormatDescriptor = client.format,
  isStructured = false,
  received?: TranslatedContent,
): GrammarGuard {
  const { kept } = client;
  const isTranslated = upstream !== client.format;
  return new GrammarGuard({
    names,
    tag: taggerOf(route),
    id: shortId(exchange.id),
    inputTokens: () => promptTokens(client.body),
    endsWithAnswer: client.format.client.text?.endsWithAnswer,
    hidesReasoning: isTranslated && client.format.client.text?.hidesReasoning?.(client.outline),
    images: client.format.client.text?.replyImages,
    callIds: client.format.client.text?.callIds,
    hasLogprobs: client.format.client.text?.hasLogprobs,
    hasPauses: client.format.client.text?.hasPauses,
    isStructured,
    received,
    onComplete: kept && ((reply) => kept.keep(reply)),
  });
}

function openReply({ profile }: Route, { name, text }: TextFormat, localStops: readonly string[]): UpstreamReply {
  const decoder = text.createDecoder(profileIn(name, profile));
  return {
    decoder: localStops.length === 0 ? decoder : new StopCutter(decoder, localStops),
    framer: text.stream?.createFramer() ?? new SseFramer(),
  };
}

function taggerOf({ upstream }: Route): StateTagger {
  const origin = originOf(upstream);
  return (kind, data) => tagState({ kind, origin, data });
}
