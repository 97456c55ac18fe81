import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { Profile } from '#core/config/catalog/profile.ts';
import type { Conversation, OpaqueState } from './conversation.ts';
import type { Notes } from './notes.ts';
import type { CompleteReply, Fragment, ReplyEvent } from './reply.ts';
import type { ToolNames } from './tool-names.ts';

/** The upstream side of a format: requests are encoded, replies are decoded. */
export interface UpstreamCodec {
  /**
   * Writes the request for an upstream. What the format cannot express is left out or approximated, and noted.
   *
   * @throws GatewayError `not_supported` naming the parameter that the upstream cannot serve in any way
   */
  encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject;
  /** Creates a decoder for one reply of an upstream. @param profile of the route, for vendors' deviations */
  createDecoder(profile?: Profile): ReplyDecoder;
}

/** The client side of a format: requests are decoded, replies are encoded. */
export interface ClientCodec {
  /**
   * Reads a client's request. Unknown members and those without a place in a conversation are noted, not refused.
   *
   * @throws GatewayError `invalid_request` naming the parameter whose type or range is wrong,
   *   `messages[2].content[0].image_url` for instance
   */
  decodeRequest(body: JsonObject, notes: Notes): Conversation;
  createEncoder(context: ReplyContext): ReplyEncoder;
}

/** A format in its four directions. */
export interface Codec extends UpstreamCodec, ClientCodec {}

/** The route that a request is encoded for. */
export interface EncodeTarget {
  /** The model's name there. */
  readonly model: string;
  readonly profile: Profile;
  readonly isStream: boolean;
  readonly names: ToolNames;
  readonly notes: Notes;
  /** The data of a state that this upstream has made; undefined for any other. */
  ownState(state: OpaqueState | undefined): string | undefined;
}

/** Tolerates every deviation of vendors, and never throws. */
export interface ReplyDecoder {
  /**
   * Takes one event of a stream.
   *
   * @param name the `event:` line; undefined when there is none
   * @param event the same one, from those who skim: it is parsed once for all, and the numbers in inputs need not keep their digits
   */
  event(name: string | undefined, data: string, event?: StreamEvent): Fragment[];
  /**
   * Takes an event behind the first content, mostly without parsing it, and without a fragment for its text. Undefined for an event
   * that must be read. Missing in formats that no client has.
   *
   * @param content takes the text; where it is given, an event whose text is not found so must be read
   */
  skim?(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined;
  /** Takes a whole reply. Ends with `end`, or with an `error`. */
  whole(body: JsonObject): Fragment[];
}

/** Takes the texts of events that are skimmed. */
export interface SkimmedContent {
  text(text: string): void;
  reasoning(text: string): void;
  input(key: string | number, text: string): void;
}

export interface ReplyContext {
  /** Id of the exchange; ids in the reply are derived from it. */
  readonly id: string;
  /** The name that the client requested. */
  readonly model: string;
  readonly created: number; // seconds since 1970
  /** The client's request, for formats that repeat it in the reply. */
  readonly request: JsonObject;
  /** The same without the middle of its long texts; missing where `request` costs nothing. */
  readonly outline?: JsonObject;
}

/** Turns ordered events into the client's bytes. */
export interface ReplyEncoder {
  /** The whole answer as it was written last; missing in formats whose answers are not stored. */
  readonly finished?: JsonObject | undefined;
  /** Complete server-sent events; the empty string when there is nothing to send. */
  event(event: ReplyEvent): string;
  whole(reply: CompleteReply): JsonObject;
  /** Writes the error that ends a stream, in the shape of the format. @param usage of the answer so far */
  failure(error: GatewayError, usage?: Usage): string;
}
