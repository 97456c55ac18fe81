import type { Route } from '#core/config/catalog/catalog.ts';
import { type Profile, profileIn } from '#core/config/catalog/profile.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StateTagger } from '../../canonical/block-queue.ts';
import type { Conversation } from '../../canonical/conversation.ts';
import { estimatePromptTokens } from '../../canonical/estimate.ts';
import type { GuardOptions } from '../../canonical/guard-options.ts';
import { GrammarGuard } from '../../canonical/guard.ts';
import { Notes } from '../../canonical/notes.ts';
import { createStateLookup, deriveOrigin, tagState } from '../../canonical/opaque-state.ts';
import { StopCutter } from '../../canonical/stop-cutter.ts';
import { ToolNames } from '../../canonical/tool-names.ts';
import { TranslatedContent } from '../../content/translated-content.ts';
import { refuseBindingChoices } from '../../formats/adaptation/account-choices.ts';
import {
  type ClientTextFormat,
  type FormatDescriptor,
  isClientTextFormat,
  isTextFormat,
  type TextFormat,
} from '../../formats/contract/descriptor.ts';
import {
  deriveCacheMark,
  type ClientRequest,
  selectEndUser,
  createReplyContext,
  stripIdPrefix,
} from '../../request/client-request.ts';
import { acceptsReasoningText } from '../../state/stored-reasoning/reasoning-to-store.ts';
import { restoreReasoning } from '../../state/stored-reasoning/restore.ts';
import { encodeForRoute } from './encode-for-route.ts';
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
   * Returns the decoded request, and notes on members that `Conversation` cannot hold.
   *
   * @throws GatewayError `invalid_request` if the request cannot be decoded, `not_supported`
   */
  decode(): { readonly conversation: Conversation; readonly notes: Notes } {
    const { format } = this.#request;
    if (!isClientTextFormat(format)) {
      const message = `Requests in the ${format.name} format cannot be translated into another format.`;
      throw new GatewayError('not_supported', message, { param: 'model' });
    }
    this.#conversation ??= this.#decodeRequest(format);
    return { conversation: this.#conversation, notes: this.#notes };
  }

  #decodeRequest(format: ClientTextFormat): Conversation {
    const { exactBody } = this.#request.content;
    refuseBindingChoices(exactBody);
    return format.client.text.decodeRequest(exactBody, this.#notes);
  }

  /**
   * Translates the request for a route.
   *
   * @param conversation what to send; by default the client's request
   * @throws GatewayError see `decode`, and `not_supported` if the route cannot serve the request
   */
  translate(route: Route, format: FormatDescriptor, conversation?: Conversation): Translation {
    const decoded = this.decode();
    if (!isTextFormat(format)) {
      const message = `Requests cannot be translated into the ${format.name} format.`;
      throw new GatewayError('not_supported', message, { param: 'model' });
    }
    const notes = new Notes();
    notes.addAll(decoded.notes);
    return new Translation(this.#exchange, this.#request, conversation ?? decoded.conversation, route, format, notes);
  }
}

export class Translation implements PreparedCall {
  readonly request: UpstreamRequest;
  readonly #exchange: Exchange;
  readonly #client: ClientRequest;
  readonly #route: Route;
  readonly #upstreamFormat: TextFormat;
  readonly #names: ToolNames;
  readonly #origin: string;
  readonly #isStructured: boolean;
  readonly #gatewayStops: readonly string[];

  constructor(
    exchange: Exchange,
    client: ClientRequest,
    conversation: Conversation,
    route: Route,
    format: TextFormat,
    notes: Notes,
  ) {
    this.#exchange = exchange;
    this.#client = client;
    this.#route = route;
    this.#upstreamFormat = format;
    this.#names = new ToolNames(conversation, format.text.toolNames);
    this.#origin = deriveOrigin(route.upstream);
    this.#isStructured = conversation.output !== undefined;
    const profile = profileIn(format.name, route.profile);
    const body = this.#encode(conversation, profile, notes);
    const reportedStops = format.text.readStopSequences(body);
    this.#gatewayStops = conversation.stop.filter((sequence) => sequence !== '' && !reportedStops.includes(sequence));
    this.request = this.#createRequest(body, profile, notes);
  }

  createReader(): ReplyReader {
    return createReader(this.#exchange, this.#client, this.#route, this.#upstreamFormat, {
      names: this.#names,
      gatewayStops: this.#gatewayStops,
      isStructured: this.#isStructured,
    });
  }

  readContinuation(interrupted: TranslatingReader, sentText: string): ReplyReader {
    const reply = openReply(this.#route, this.#upstreamFormat, this.#gatewayStops);
    return interrupted.continueWith(reply, { toolNames: this.#names, tagState: createTagger(this.#route) }, sentText);
  }

  #encode(conversation: Conversation, profile: Profile, notes: Notes): JsonObject {
    return encodeForRoute(
      this.#upstreamFormat,
      this.#restoreReasoning(conversation),
      {
        model: this.#route.model,
        profile,
        isStream: this.#client.isStream,
        names: this.#names,
        notes,
        endUser: selectEndUser(this.#client, this.#route),
        cacheMark: deriveCacheMark(this.#client, this.#route),
      },
      this.#origin,
      this.#route.upstream,
    );
  }

  #createRequest(body: JsonObject, { quirks }: Profile, notes: Notes): UpstreamRequest {
    const { isStream } = this.#client;
    const { name, text, headers } = this.#upstreamFormat;
    return {
      format: name,
      path: this.#upstreamFormat.path(this.#route.model, isStream, 'answer', quirks),
      headers: {
        'content-type': 'application/json',
        accept: isStream ? (text.stream?.type ?? 'text/event-stream') : 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      notes: notes.entries,
    };
  }

  #restoreReasoning(conversation: Conversation): Conversation {
    const { storedReasoning } = this.#client;
    if (storedReasoning === undefined) return conversation;
    const findAcceptedState = createStateLookup(this.#upstreamFormat.text, this.#origin);
    const acceptsText = acceptsReasoningText(this.#upstreamFormat, this.#route);
    return restoreReasoning(conversation, storedReasoning, {
      acceptsText,
      origin: this.#origin,
      findAcceptedState,
    });
  }
}

interface ReaderOptions {
  readonly names?: ToolNames;
  readonly gatewayStops?: readonly string[];
  readonly isStructured?: boolean;
}

/** Creates a reader that decodes a route's answer and encodes it in the client's format, which may be the same. */
export function createReader(
  exchange: Exchange,
  client: ClientRequest,
  route: Route,
  upstream: TextFormat,
  { names = createUnchangedNames(upstream), gatewayStops = [], isStructured }: ReaderOptions = {},
): TranslatingReader {
  // Only requests in a text format are decoded, so their answers can be encoded.
  const { text } = (client.format as ClientTextFormat).client;
  const content = new TranslatedContent(text.describeContentForm?.(client.outline));
  const guard = createGuard(exchange, client, route, names, { upstream, isStructured, receiver: content });
  const encoder = text.createEncoder(createReplyContext(exchange, client));
  return new TranslatingReader(openReply(route, upstream, gatewayStops), guard, encoder, content);
}

export function createUnchangedNames({ text }: TextFormat): ToolNames {
  return new ToolNames({ tools: [], items: [] }, text.toolNames);
}

interface AnswerOptions extends Pick<GuardOptions, 'isStructured' | 'receiver'> {
  readonly upstream?: FormatDescriptor;
}

/** The guard stores reasoning that the client will not send back. */
export function createGuard(
  exchange: Exchange,
  client: ClientRequest,
  route: Route,
  names: ToolNames,
  { upstream = client.format, isStructured, receiver }: AnswerOptions = {},
): GrammarGuard {
  const { format, storedReasoning } = client;
  const { text } = format.client;
  const isTranslated = upstream !== format;
  return new GrammarGuard({
    toolNames: names,
    tagState: createTagger(route),
    exchangeId: stripIdPrefix(exchange.id),
    estimateInputTokens: () => estimatePromptTokens(client.body),
    rules: text,
    hidesReasoning: isTranslated && text?.hidesReasoning?.(client.outline),
    isStructured,
    receiver,
    onComplete: storedReasoning && ((reply) => storedReasoning.store(reply)),
  });
}

function openReply({ profile }: Route, { name, text }: TextFormat, gatewayStops: readonly string[]): UpstreamReply {
  const decoder = text.createDecoder(profileIn(name, profile));
  return {
    decoder: gatewayStops.length === 0 ? decoder : new StopCutter(decoder, gatewayStops),
    framer: text.stream?.createFramer() ?? new SseFramer(),
  };
}

function createTagger({ upstream }: Route): StateTagger {
  const origin = deriveOrigin(upstream);
  return (kind, data) => tagState({ kind, origin, data });
}
