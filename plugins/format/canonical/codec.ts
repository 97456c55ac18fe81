import type { Profile } from '#core/config/catalog/profile.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, OpaqueState, StateKind } from './conversation.ts';
import type { Notes } from './notes.ts';
import type { CompleteReply, Fragment, ReplyEvent } from './reply.ts';
import type { NameRules, ToolNames } from './tool-names.ts';

/** The upstream side of a format: encodes requests and decodes replies. */
export interface UpstreamCodec {
  readonly toolNames: NameRules;
  /** Kinds of opaque reasoning state that endpoints of this format create and accept. */
  readonly stateKinds: readonly StateKind[];
  /**
   * Encodes the request for an upstream. Features that the format cannot express are dropped or approximated, and noted.
   *
   * @throws GatewayError `not_supported` naming the parameter that the upstream cannot serve
   */
  encodeRequest(conversation: Conversation, target: EncodeTarget): JsonObject;
  /** Creates a decoder for one reply. The profile lists the vendor's quirks. */
  createDecoder(profile?: Profile): ReplyDecoder;
}

/** The client side of a format: decodes requests and encodes replies. */
export interface ClientCodec {
  /**
   * Decodes a client's request. Fields that are unknown or that `Conversation` cannot hold are noted, not refused.
   *
   * @throws GatewayError `invalid_request` naming the parameter with a wrong type or range, for instance `messages[2].content[0].image_url`
   */
  decodeRequest(body: JsonObject, notes: Notes): Conversation;
  createEncoder(context: ReplyContext): ReplyEncoder;
}

export interface Codec extends UpstreamCodec, ClientCodec {
  /** The smallest dialogue that makes a request decodable. */
  readonly minimalDialogue: JsonObject;
}

export interface EncodeTarget {
  /** The upstream's name for the model. */
  readonly model: string;
  readonly profile: Profile;
  readonly isStream: boolean;
  readonly names: ToolNames;
  readonly notes: Notes;
  /** Returns the data of an opaque state that this upstream created and accepts; undefined for any other state. */
  findAcceptedState(state: OpaqueState | undefined): string | undefined;
}

/** Decodes a reply from an upstream. Tolerates deviations from the format and never throws. */
export interface ReplyDecoder {
  /**
   * Reads one event of a stream.
   *
   * @param name value of the `event:` line; undefined if there is none
   * @param event the parsed event, if the caller only skims it. All readers share it, and its large numbers may have lost digits
   */
  readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[];
  /**
   * Reads an event after the first content, usually without parsing it and without emitting a fragment for its text. Missing in formats
   * that have no clients.
   *
   * @param content receives the text; if given, an event whose text cannot be found by skimming must be read with `readEvent`
   * @returns undefined if the event must be read with `readEvent`
   */
  skimEvent?(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined;
  /** Reads a non-streaming reply. The fragments end with `end` or `error`. */
  readWhole(body: JsonObject): Fragment[];
}

/** Receives the text of skimmed events. */
export interface SkimmedContent {
  addText(text: string): void;
  addReasoning(text: string): void;
  addInput(key: string | number, text: string): void;
}

export interface ReplyContext {
  /** Id of the exchange; ids in the reply are derived from it. */
  readonly id: string;
  /** Model name that the client requested. */
  readonly model: string;
  readonly created: number; // seconds since 1970
  /** The client's request, for formats whose replies repeat parts of it. */
  readonly request: JsonObject;
  /** `request` with the middle of long texts cut out; missing if `request` is cheap to read. */
  readonly outline?: JsonObject;
}

export interface ReplyEncoder {
  /** The complete answer as last rendered; missing in formats whose answers are not stored. */
  readonly finished?: JsonObject | undefined;
  /** Renders an event as complete server-sent events; empty if this format has none for it. */
  encodeEvent(event: ReplyEvent): string;
  encodeWhole(reply: CompleteReply): JsonObject;
  /** Renders the error that ends a stream. `usage` is the usage up to the error. */
  encodeFailure(error: GatewayError, usage?: Usage): string;
}
