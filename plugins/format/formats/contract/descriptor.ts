import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { EventFramer } from '#core/gateway/model-call/event-framer.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ClientCodec, ReplyContext, UpstreamCodec } from '../../canonical/codec.ts';
import type { ReplyRules } from '../../canonical/guard-options.ts';
import type { HistoryCall } from '../../canonical/stored-reasoning.ts';
import type { ContentForm } from '../../content/sent-content.ts';
import type { Adaptation, AdaptationTarget } from './adaptation.ts';
import type { ReplyListeners } from './fragment-observer.ts';
import type { ParameterRules } from './parameters.ts';
import type { AnsweredRequest, ModelPlace, ReplyAdapter, ReplyRepair, ReplyObserver } from './pass-through.ts';

/** Everything that sets a wire format apart from the others. Each format has a descriptor in its folder; formats.ts lists them. */
export interface FormatDescriptor extends WireFormat {
  /**
   * Returns the path after an upstream's base URL.
   *
   * @param model the upstream's name for the model
   * @param quirks the route's quirks; none by default
   */
  path(model: string, isStream: boolean, purpose: Purpose, quirks?: Quirks): string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client headers that are sent only to the format's own vendor; `x-codex-*` is a prefix. */
  readonly betaHeaders?: readonly string[];
  /** Reads headers that clients send inside the body because they cannot set them for each request. Names are in lower case. */
  readBodyHeaders?(outline: JsonObject): Readonly<Record<string, string>>;
  /** Missing if only upstreams use the format. */
  readonly client?: ClientSide;
  /** How conversations are translated; missing if requests and replies can only pass through. */
  readonly text?: TextSide;
}

/** What a request is for: a reply, or a count of its tokens. */
export type Purpose = 'answer' | 'count';

export interface ModelEndpoint extends Endpoint {
  /** The upstream's path after its base URL; missing if the format has only one path. */
  readonly upstreamPath?: string;
  /** True if the body may be a form with files. */
  readonly isMultipart?: boolean;
  readonly purpose: Purpose;
  readonly required: readonly string[];
  /** Whether the path selects streaming; missing if the body does. */
  readonly isStream?: boolean;
}

export function defineModelEndpoint(
  name: string,
  path: string,
  required: readonly string[],
  options: Partial<ModelEndpoint> = {},
): ModelEndpoint {
  const { purpose = 'answer' } = options;
  const isMetered = purpose === 'answer';
  return { name, method: 'POST', path, isMetered, isAliased: true, purpose, required, ...options };
}

/** The client side of a format: its endpoints and parameters, and how pass-through replies are handled. */
export interface ClientSide {
  readonly endpoints: readonly ModelEndpoint[];
  /** Display name of the vendor and API; by default the dialect's vendor. */
  readonly vendor?: string;
  /** The vendor's page that defines the format. */
  readonly reference?: string;
  readonly parameters: ParameterRules;
  /** Adapts a request to a route, in formats without conversations; missing if no request needs any change. */
  readonly adapt?: Adaptation;
  /** Returns true if a body requests a stream. By default it does if its `stream` is true. */
  isStream?(body: JsonObject): boolean;
  /** Returns a test for the content types of responses that pass through as bytes, such as audio; undefined if responses are JSON. */
  createByteTypeTest?(body: JsonObject): ((contentType: string) => boolean) | undefined;
  /** Reads the usage of a reply with too many values to parse, such as many embeddings; missing if such a reply is an error. */
  readLargeUsage?(text: string): Usage | undefined;
  /** True if the path names the model rather than the body. */
  readonly isModelInPath?: boolean;
  /** @param body the client's request */
  createObserver(body: JsonObject, listeners?: ReplyListeners): ReplyObserver;
  /** Missing if no vendor deviates from the format. */
  createReplyRepair?(context: ReplyContext, profile: Profile): ReplyRepair | undefined;
  /** Where replies name their model; missing if they do not. */
  readonly modelPlace?: ModelPlace;
  /** @param origin the upstream's tag, see opaque-state.ts */
  createReplyAdapter?(request: AnsweredRequest, origin: string): ReplyAdapter;
  /** Drops reasoning that a route would reject. Returns the same object if there is none. */
  readonly dropForeignReasoning?: Adaptation;
  /**
   * Repairs a request after opaque reasoning state was removed from it.
   *
   * @param before the request with all of its reasoning state
   */
  completeWithoutState?(body: JsonObject, before: JsonObject, target: AdaptationTarget): JsonObject;
  /** Replaces the model's name inside a request whose tokens are to be counted; missing if requests name it only once. */
  setCountedModel?(body: JsonObject, model: string): JsonObject;
  readonly text?: ClientTextSide;
}

/** A member to insert at the start of a JSON object without parsing it. */
export interface InsertedMember {
  readonly name: string;
  readonly value: JsonObject;
  /** JSON of an object, up to the comma after this member. */
  readonly prefix: Buffer;
}

interface ClientTextSide extends ClientCodec, ReplyRules {
  /** Returns the same object if there are none. */
  omitResultImages(body: JsonObject): JsonObject;
  /** Missing if the format's replies always include reasoning. */
  hidesReasoning?(body: JsonObject): boolean;
  /** For the digest of replies: how clients receive the content of blocks; missing if they receive it unchanged. */
  describeContentForm?(outline: JsonObject): ContentForm;
  writeTokenCount(tokens: number): JsonObject;
  /** `needsState`: reasoning text alone is not enough. Missing if the format's clients always send reasoning back. */
  findHistoryCalls?(body: JsonObject, needsState: boolean): HistoryCall[];
  /** Replies to a request whose only tools belong to a vendor that no route leads to; undefined if the format cannot express this. */
  replyToUnavailableTool?(body: JsonObject, context: ReplyContext, isStream: boolean): string | undefined;
  /** Missing if the format has no tools that take raw text. */
  hasFreeformTools?(body: JsonObject): boolean;
  /** Returns true if a call lacks its input or its result, or a result lacks its call. Missing if vendors accept such calls. */
  hasBrokenCalls?(body: JsonObject): boolean;
  /** Returns false for a request for several choices, which cannot be decoded and re-encoded. */
  isSingleChoice(body: JsonObject): boolean;
}

interface TextSide extends UpstreamCodec {
  readonly features: FormatFeatures;
  /** Server-sent events by default. */
  readonly stream?: StreamFormat;
  /** The member that requests token counts in streams. */
  readonly usageOption?: InsertedMember;
  readStopSequences(body: JsonObject): readonly string[];
  readonly adapt: Adaptation;
}

interface StreamFormat {
  readonly type: string; // media type
  createFramer(): EventFramer;
}

interface FormatFeatures {
  readonly freeformTools: boolean;
  readonly forcedTools: boolean;
  readonly resultImages: boolean;
  /** `reachable`: only URLs that the vendor can fetch. */
  readonly imageUrls: 'any' | 'reachable' | 'none';
  readonly parallelCallOption: boolean;
  /** Reasoning of earlier turns; `signed` means with opaque state. */
  readonly reasoning: 'signed' | 'text' | 'none';
}

export interface ClientFormat extends FormatDescriptor {
  readonly client: ClientSide;
}

/** A format for conversations. */
export interface TextFormat extends FormatDescriptor {
  readonly text: TextSide;
}

export interface ClientTextFormat extends TextFormat {
  readonly client: ClientSide & { readonly text: ClientTextSide };
}

export function isClientFormat(format: FormatDescriptor): format is ClientFormat {
  return format.client !== undefined;
}

export function isTextFormat(format: FormatDescriptor): format is TextFormat {
  return format.text !== undefined;
}

export function isClientTextFormat(format: FormatDescriptor): format is ClientTextFormat {
  return format.text !== undefined && format.client?.text !== undefined;
}
