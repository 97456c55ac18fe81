import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '#core/platform/json.ts';
import type { Answer } from '../conversation.ts';

/** A request of an endpoint, as a rule reads it. */
export interface Asked {
  readonly body: JsonObject;
  readonly headers: IncomingHttpHeaders;
}

/** Returns what the vendor complains about; undefined when it accepts the request. */
export type Rule = (asked: Asked) => string | undefined;

/** How a vendor's answers deviate from the plain form of their format. */
export interface Oddity {
  readonly answer?: (answer: Answer) => Answer;
  readonly whole?: (reply: JsonObject) => JsonObject;
  readonly events?: (events: readonly JsonObject[]) => JsonObject[];
  readonly frame?: (stream: string) => string;
}

/** One endpoint of a vendor, in the format of its path. */
export interface Endpoint {
  readonly rules: readonly Rule[];
  readonly oddities: readonly Oddity[];
  /** True for a request that asks for reasoning; undefined where models always reason. */
  readonly isAskedToThink?: (body: JsonObject) => boolean;
  /** Vendor-specific members of its answers, which clients of the format must receive. */
  readonly extras?: readonly string[];
  /** The event with which it reports a failure in the middle of a stream. */
  readonly failure?: JsonObject;
}

export type EndpointFormat = 'chat' | 'responses' | 'messages' | 'gemini';

/** A vendor as its users meet it: a preset, what each endpoint refuses, and how it answers. */
export interface VendorDescription {
  /** Name of the preset. */
  readonly name: string;
  /** A model of the vendor, by which presets choose quirks. */
  readonly model: string;
  readonly endpoints: Readonly<Partial<Record<EndpointFormat, Endpoint>>>;
  /** Names of the scenarios that the vendor's models cannot serve. */
  readonly lacks?: readonly string[];
  /** How it refuses a request. */
  readonly refusal: (complaint: string) => Refusal;
  /** How it reports a rate limit; by default as it refuses, with 429. */
  readonly tooMany?: Refusal;
  /** True for streams whose connection stays open after the last event. */
  readonly staysOpen?: boolean;
}

export interface Refusal {
  readonly status: number;
  readonly body: JsonObject;
}
