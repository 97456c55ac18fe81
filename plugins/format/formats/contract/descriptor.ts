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

/** Describes what distinguishes a wire format from the others. Each format has a descriptor in its folder; formats.ts lists them. */
export interface FormatDescriptor extends WireFormat {
  /**
   * Path after an upstream's base URL.
   *
   * @param model the upstream's name for the model
   * @param quirks quirks of the route; by default none
   */
  path(model: string, isStream: boolean, purpose: Purpose, quirks?: Quirks): string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client headers that are sent only to the format's own vendor; `x-codex-*` is a prefix. */
  readonly betaHeaders?: readonly string[];
  /** Reads headers that clients send inside the body if they cannot set them per request. The names are in lower case. */
  readBodyHeaders?(outline: JsonObject): Readonly<Record<string, string>>;
  /** Missing if only upstreams use the format. */
  readonly client?: ClientSide;
  /** Translation of conversations; missing if requests and replies can only pass through. */
  readonly text?: TextSide;
}

/** The purpose of a request: a reply, or a count of the request's tokens. */
export type Purpose = 'answer' | 'count';

/** An endpoint that calls a model. */
export interface ModelEndpoint extends Endpoint {
  /** The upstream's path after the base URL; missing if the format has only one path. */
  readonly upstreamPath?: string;
  /** True if the body may be a form with files. */
  readonly isMultipart?: boolean;
  readonly purpose: Purpose;
  /** Required parameters. */
  readonly required: readonly string[];
  /** True if the path selects streaming; missing if the body does. */
  readonly isStream?: boolean;
}

/** Defines an endpoint that calls a model, which its body names by default. */
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

/** The client side of a format: its endpoints and parameters, and the handling of pass-through replies. */
export interface ClientSide {
  readonly endpoints: readonly ModelEndpoint[];
  /** Vendor and API, as shown to people; default: the vendor of the dialect. */
  readonly vendor?: string;
  /** Page of the vendor that defines the format. */
  readonly reference?: string;
  readonly parameters: ParameterRules;
  /** Adapts a request to a route, in formats without conversations; missing if no request needs a change. */
  readonly adapt?: Adaptation;
  /** Returns true if a body requests a stream; by default, if its member `stream` is true. */
  isStream?(body: JsonObject): boolean;
  /**
   * Returns a test for the content types of responses that pass through as bytes, such as audio; undefined for requests whose
   * responses are JSON.
   */
  createByteTypeTest?(body: JsonObject): ((contentType: string) => boolean) | undefined;
  /** Reads the usage from a reply with too many values to parse, such as many embeddings; missing if such a reply is an error. */
  readLargeUsage?(text: string): Usage | undefined;
  /** True if the path, not the body, names the model. */
  readonly isModelInPath?: boolean;
  /**
   * Creates the observer of a pass-through reply.
   *
   * @param body the client's request
   */
  createObserver(body: JsonObject, listeners?: ReplyListeners): ReplyObserver;
  /**
   * Creates the repair of a pass-through reply; missing if no vendor deviates from the format.
   *
   * @param profile profile of the route
   */
  createReplyRepair?(context: ReplyContext, profile: Profile): ReplyRepair | undefined;
  /** Where replies name their model; missing if they do not. */
  readonly modelPlace?: ModelPlace;
  /**
   * Creates the adapter of a pass-through reply.
   *
   * @param origin tag of the upstream, see opaque-state.ts
   */
  createReplyAdapter?(request: AnsweredRequest, origin: string): ReplyAdapter;
  /** Drops reasoning that a route would reject. Returns the same object if there is none. */
  readonly dropForeignReasoning?: Adaptation;
  /**
   * Completes a request from which opaque reasoning state was removed.
   *
   * @param before the request with all of its reasoning state
   */
  completeWithoutState?(body: JsonObject, before: JsonObject, target: AdaptationTarget): JsonObject;
  /** Replaces the model's name inside a request whose tokens are to be counted; missing if the request names it only once. */
  setCountedModel?(body: JsonObject, model: string): JsonObject;
  readonly text?: ClientTextSide;
}

/** A member that is inserted at the start of a JSON object, without parsing the object. */
export interface InsertedMember {
  readonly name: string;
  readonly value: JsonObject;
  /** JSON of an object up to the comma after this member. */
  readonly prefix: Buffer;
}

/** The client side of a format for conversations. */
interface ClientTextSide extends ClientCodec, ReplyRules {
  /** Removes the images in tool results. Returns the same object if there are none. */
  omitResultImages(body: JsonObject): JsonObject;
  /** Returns true if a request does not ask for reasoning; missing if replies of the format always include it. */
  hidesReasoning?(body: JsonObject): boolean;
  /**
   * Describes how clients receive the content of blocks, for the digest of replies; by default unchanged.
   *
   * @param request the outline of the request
   */
  describeContentForm?(request: JsonObject): ContentForm;
  writeTokenCount(tokens: number): JsonObject;
  /**
   * Finds the calls in a history; missing if clients of the format always send reasoning back.
   *
   * @param needsState true if the text of the reasoning is not enough
   */
  findHistoryCalls?(body: JsonObject, needsState: boolean): HistoryCall[];
  /**
   * Renders a reply to a request whose only tools belong to a vendor that no route leads to.
   *
   * @returns a body or the events of a stream; undefined if the format cannot express such a reply
   */
  replyToUnavailableTool?(body: JsonObject, context: ReplyContext, isStream: boolean): string | undefined;
  /** Returns true if a request has tools that take raw text; missing if the format has no such tools. */
  hasFreeformTools?(body: JsonObject): boolean;
  /** Returns true if a call in the history lacks its input or result, or a result its call; missing if vendors accept that. */
  hasBrokenCalls?(body: JsonObject): boolean;
  /** Returns true if a request asks for a single choice: several choices cannot be decoded and re-encoded. */
  isSingleChoice(body: JsonObject): boolean;
}

/** The upstream side of a format for conversations. */
interface TextSide extends UpstreamCodec {
  readonly features: FormatFeatures;
  /** Form of streams; default: server-sent events. */
  readonly stream?: StreamFormat;
  /** Member that requests token counts in a streamed reply. */
  readonly usageOption?: InsertedMember;
  /** Reads the stop sequences that a request leaves to the upstream. */
  readStopSequences(body: JsonObject): readonly string[];
  readonly adapt: Adaptation;
}

interface StreamFormat {
  readonly type: string; // media type
  createFramer(): EventFramer;
}

/** Features that not every format can express. */
interface FormatFeatures {
  readonly freeformTools: boolean;
  readonly forcedTools: boolean;
  readonly resultImages: boolean;
  /** Accepted image URLs: any, only URLs that the vendor can fetch, or none. */
  readonly imageUrls: 'any' | 'reachable' | 'none';
  readonly parallelCallOption: boolean;
  /** Reasoning of earlier turns: with opaque state, as text, or not at all. */
  readonly reasoning: 'signed' | 'text' | 'none';
}

/** A format that clients can use. */
export interface ClientFormat extends FormatDescriptor {
  readonly client: ClientSide;
}

/** A format for conversations. */
export interface TextFormat extends FormatDescriptor {
  readonly text: TextSide;
}

/** A format for conversations that clients can use. */
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
