import type { WireFormat } from '#core/config/catalog/formats.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { EventFramer } from '#core/gateway/model-call/event-framer.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import type { IdForm } from '../../canonical/call-ids.ts';
import type { ClientCodec, ReplyContext, UpstreamCodec } from '../../canonical/codec.ts';
import type { StateKind } from '../../canonical/conversation.ts';
import type { HistoryCall } from '../../canonical/kept-reasoning.ts';
import type { ShownImages } from '../../canonical/made-images.ts';
import type { ContentForm } from '../../content/sent-content.ts';
import type { NameRules } from '../../canonical/tool-names.ts';
import type { Adaptation, AdaptationTarget } from './adaptation.ts';
import type { Listening } from './fragment-observer.ts';
import type { ParameterRules } from './parameters.ts';
import type { AnsweredRequest, ModelPlace, ReplyAdapter, ReplyRepair, ReplyObserver } from './pass-through.ts';

/**
 * Describes all differences between a wire format and the others: one object per format, in the format's folder. formats.ts
 * lists them.
 */
export interface FormatDescriptor extends WireFormat {
  /** Behind an upstream's base URL. @param model its name there @param quirks of the route; plain ones when left out */
  path(model: string, isStream: boolean, purpose: Purpose, quirks?: Quirks): string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client headers that the format's vendor knows; `x-codex-*` is a prefix. Other vendors do not get them. */
  readonly betaHeaders?: readonly string[];
  /** Headers that clients put into the body where each request has none of its own, by their names in lower case. */
  headersIn?(outline: JsonObject): Readonly<Record<string, string>>;
  /** The client side; missing in a format that only upstreams use. */
  readonly client?: ClientSide;
  /** Translation of its conversations; missing if requests and replies can only pass through. */
  readonly text?: TextSide;
}

/** The purpose of a request: an answer, or the number of tokens that the request would take. */
export type Purpose = 'answer' | 'count';

/** A path on which a model is called. */
export interface ModelEndpoint extends Endpoint {
  /** Where upstreams have it, behind the base URL; left out where the format has one path. */
  readonly upstreamPath?: string;
  /** True where the body may be a form with files. */
  readonly isMultipart?: boolean;
  readonly purpose: Purpose;
  /** Parameters that a request must have. */
  readonly required: readonly string[];
  /** True where the path asks for a stream; left out where the body does. */
  readonly isStream?: boolean;
}

/** A path at which the body names the model. */
export function modelEndpoint(
  name: string,
  path: string,
  required: readonly string[],
  more: Partial<ModelEndpoint> = {},
): ModelEndpoint {
  const { purpose = 'answer' } = more;
  return { name, method: 'POST', path, isMetered: purpose === 'answer', isAliased: true, purpose, required, ...more };
}

/** The client side of a format. */
export interface ClientSide {
  readonly endpoints: readonly ModelEndpoint[];
  readonly parameters: ParameterRules;
  /** Adapts a request to a route, in a format without conversations; missing where nothing can change. */
  readonly adapt?: Adaptation;
  /** True for a body that asks for a stream; left out where its member `stream` does. */
  isStream?(body: JsonObject): boolean;
  /**
   * Accepts the content types of an answer that is no JSON, such as audio, and passes on as it comes; undefined for a
   * request with any other answer.
   */
  bytes?(body: JsonObject): ((contentType: string) => boolean) | undefined;
  /** The usage in an answer with more values than are parsed, such as the vectors of many texts; missing where that is a fault. */
  readLarge?(text: string): Usage | undefined;
  /** True where the path names the model, not the body. */
  readonly isModelInPath?: boolean;
  /** Watches a reply that passes through. @param body the client's request */
  observe(body: JsonObject, listening?: Listening): ReplyObserver;
  /** Repairs a reply that passes through; missing where no vendor deviates. @param profile of the route */
  repairReply?(context: ReplyContext, profile: Profile): ReplyRepair | undefined;
  /** Where answers name their model; missing in a format whose answers do not. */
  readonly modelPlace?: ModelPlace;
  /** Adapts a reply that passes through. @param origin of the upstream, see opaque-state.ts */
  adaptReply?(request: AnsweredRequest, origin: string): ReplyAdapter;
  /** Drops the reasoning that a route would reject; returns the same object when there is none. */
  readonly ownReasoning?: Adaptation;
  /** Completes a request from which opaque reasoning state was removed. @param before the request with all of it */
  settle?(body: JsonObject, before: JsonObject, target: AdaptationTarget): JsonObject;
  /** Writes the model's name where a request to count tokens has it a second time. */
  nameCounted?(body: JsonObject, model: string): JsonObject;
  readonly text?: ClientTextSide;
}

/** A member that the gateway adds to requests. */
export interface InsertedMember {
  readonly name: string;
  readonly value: JsonObject;
  /** The beginning of an object with this member, up to the comma behind it. */
  readonly prefix: Buffer;
}

/** A format in which clients hold conversations. */
interface ClientTextSide extends ClientCodec {
  /** The body without the images in tool results; the very same one when there are none. */
  omitResultImages(body: JsonObject): JsonObject;
  /** True when clients take the last item of an answer for the answer itself. */
  readonly endsWithAnswer?: boolean;
  /** True for a request that does not ask for reasoning; missing in a format whose answers have it in any case. */
  hidesReasoning?(body: JsonObject): boolean;
  /** How clients get what blocks hold, for the digest of answers; as they are when left out. @param request without the middle of texts */
  contentForm?(request: JsonObject): ContentForm;
  /** The images that answers can hold; any when left out. */
  readonly answerImages?: ShownImages;
  /** The ids that its clients accept for calls; any when left out. */
  readonly callIds?: IdForm;
  /** True for a format that has log probabilities in answers. */
  readonly hasLogprobs?: boolean;
  /** True for a format with a finish reason for answers that pause for the vendor's own tools. */
  readonly hasPauses?: boolean;
  writeTokenCount(tokens: number): JsonObject;
  /**
   * The calls in a history. Only in a format whose clients may not return reasoning.
   *
   * @param needsState the text of the reasoning is not enough
   */
  callsInHistory?(body: JsonObject, needsState: boolean): HistoryCall[];
  /**
   * Answers a request whose only tools are run by a vendor that no route leads to; undefined where that has no form of its
   * own. @returns a body, or the events of a stream
   */
  answerUnavailableTool?(body: JsonObject, context: ReplyContext, isStream: boolean): string | undefined;
  /** True when a request has tools that take raw text; missing in a format that has none. */
  hasFreeformTools?(body: JsonObject): boolean;
  /** True when a call in the history has no input or no result, or a result no call; missing where no vendor minds. */
  hasBrokenCalls?(body: JsonObject): boolean;
  /** True when a request asks for a single answer, which can be decoded and encoded again. */
  isSingleAnswer(body: JsonObject): boolean;
}

/** A format in which upstreams are asked to continue conversations. */
interface TextSide extends UpstreamCodec {
  /** The tool names that the format allows. */
  readonly toolNames: NameRules;
  /** Kinds of opaque reasoning state that an endpoint of the format makes, and takes back. */
  readonly stateKinds: readonly StateKind[];
  readonly speaks: Vocabulary;
  /** Form of streams; default: server-sent events. */
  readonly stream?: StreamFormat;
  /** The member by which a streamed reply is asked to count tokens. */
  readonly usageOption?: InsertedMember;
  reportedStops(body: JsonObject): readonly string[];
  readonly adapt: Adaptation;
}

interface StreamFormat {
  readonly type: string; // media type
  createFramer(): EventFramer;
}

/** Features that not every format can express. */
interface Vocabulary {
  readonly freeformTools: boolean;
  readonly forcedTools: boolean;
  readonly resultImages: boolean;
  /** Image URLs: any, those that the vendor can fetch, or none. */
  readonly imageUrls: 'any' | 'reachable' | 'none';
  readonly parallelSwitch: boolean;
  /** Reasoning of earlier turns: with opaque state, as text, or not at all. */
  readonly reasoning: 'signed' | 'text' | 'none';
}

/** A format with a client side. */
export interface ClientFormat extends FormatDescriptor {
  readonly client: ClientSide;
}

/** A format in which conversations are held. */
export interface TextFormat extends FormatDescriptor {
  readonly text: TextSide;
}

/** A format in which clients hold conversations. */
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
