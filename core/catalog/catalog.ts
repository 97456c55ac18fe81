import type { Logger } from '../logger.ts';
import type { Profile, ProfileSettings } from './profile.ts';

/** What is known about a vendor without asking the operator. Presets are data; `upstream` registers them. */
export interface Vendor extends ProfileSettings {
  readonly name: string; // as gateway.yaml says it: openai, anthropic, …
  readonly title: string; // as people say it
  /** Names of the formats that its endpoint speaks. */
  readonly formats: readonly string[];
  /** With the version segment: the format's path (`/chat/completions`) is appended. */
  readonly baseUrl: string;
  readonly auth: AuthScheme;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same for models whose name there matches; `*` stands for anything. The last match counts most. */
  readonly models?: readonly (ProfileSettings & { readonly match: string })[];
  /** True for upstreams that answer out of thin air. Refused in production. */
  readonly isDemo?: boolean;
  /** For a vendor that the gateway runs itself: starts its server, once, when an upstream of it is used. */
  start?(parts: { readonly log: Logger }): Promise<{ readonly baseUrl: string } & AsyncDisposable>;
}

/** Where an API key stands in a request: `Authorization: Bearer`, a header of that name, or nowhere. */
export const authSchemes = ['bearer', 'x-api-key', 'x-goog-api-key', 'none'] as const;

/** How an API key travels to an upstream. */
export type AuthScheme = (typeof authSchemes)[number];

/** Where requests can be sent. */
export interface Upstream {
  readonly name: string;
  readonly vendor: string | undefined;
  readonly formats: readonly string[]; // names
  readonly baseUrl: string; // without a trailing slash
  readonly auth: AuthScheme;
  readonly apiKeys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly isDemo: boolean;
  /** False when it needs a key and has none: its routes are left out. */
  readonly isEnabled: boolean;
}

/** A model as served by one upstream. Timeouts are in seconds; undefined means what the `upstream` stage says. */
export interface Route {
  readonly id: string; // upstream/model-there
  readonly upstream: Upstream;
  readonly model: string; // the name there
  /** Lower is tried first. Routes of the same priority share requests by weight. */
  readonly priority: number;
  readonly weight: number;
  readonly connectTimeout: number | undefined;
  readonly firstByteTimeout: number | undefined;
  readonly idleTimeout: number | undefined;
  /** Tokens that a prompt may have there; undefined when neither route nor model says. */
  readonly maxInputTokens: number | undefined;
  readonly profile: Profile;
}

/** A name of the catalog and the routes that serve it, primary first. */
export interface Model {
  readonly id: string;
  readonly displayName: string;
  readonly routes: readonly Route[];
  /** Seconds without content after which the next route is asked as well; undefined for never. */
  readonly hedgeAfter?: number | undefined;
  /** True when the next route is asked to go on with a streamed text that has broken off. */
  readonly resume?: boolean | undefined;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/** Everything that clients can ask for. Immutable; a reload makes a new one. */
export interface Catalog {
  /** In the order of gateway.yaml. */
  readonly models: readonly Model[];
  readonly upstreams: readonly Upstream[];
  /** Models whose upstreams are all off. */
  readonly unavailable: readonly Model[];
  /** The model of that name, or the one that an alias of that name leads to. */
  resolve(name: string): Model | undefined;
  /** The catalog name nearest to a name that does not exist, for "did you mean". */
  suggest(name: string): string | undefined;
}
