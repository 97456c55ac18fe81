import type { Logger } from '#core/platform/logger.ts';
import type { CloudCredentials } from './credentials.ts';
import type { CustomerChoice } from './customer-choices.ts';
import type { ModelKind } from './kinds.ts';
import type { Profile, ProfileSettings } from './profile.ts';

/** The preset of a vendor. The plugin `upstream` registers the presets. */
export interface Vendor extends ProfileSettings {
  readonly name: string; // in gateway.yaml: openai, anthropic, …
  readonly title: string; // display name
  /** Names of its endpoint's formats. */
  readonly formats: readonly string[];
  /**
   * Base URL with the version segment: the format's path (`/chat/completions`) is appended. Absent if every customer of the vendor
   * has a URL of their own, which gateway.yaml sets.
   */
  readonly baseUrl?: string;
  /** Example of a base URL. */
  readonly baseUrlExample?: string;
  readonly auth: AuthScheme;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings for models whose upstream name matches; `*` matches any text. Later matches override earlier ones. */
  readonly models?: readonly VendorModels[];
  /** True for upstreams with made-up answers, which are refused in production. */
  readonly isDemo?: boolean;
  /** Starts the vendor's server in the gateway, once, when an upstream first uses it. */
  start?(parts: { readonly log: Logger }): Promise<{ readonly baseUrl: string } & AsyncDisposable>;
}

/** Models of a vendor by their upstream names. Their kind counts only if the upstream has an endpoint for it. */
export interface VendorModels extends ProfileSettings {
  readonly match: string;
  readonly kind?: ModelKind;
}

/** Place of the API key in a request: `Authorization: Bearer`, a header of this name, or none. */
export const authSchemes = ['bearer', 'x-api-key', 'x-goog-api-key', 'api-key', 'none'] as const;

/** How an API key is sent to an upstream. */
export type AuthScheme = (typeof authSchemes)[number];

/** An upstream's capacity; undeclared members are infinite. */
export interface Capacity {
  readonly concurrent: number; // requests in flight
  readonly requests: number; // per period
  readonly period: number; // ms
}

/** A destination of requests. */
export interface Upstream {
  readonly name: string;
  readonly vendor: string | undefined;
  readonly formats: readonly string[]; // names
  readonly baseUrl: string; // without a trailing slash
  readonly auth: AuthScheme;
  readonly apiKeys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The end user in upstream requests: the client's own, or the account as a keyed hash. */
  readonly endUser: 'client' | 'hash';
  /** True if accounts cannot read each other's entries in the vendor's prompt cache. */
  readonly isolatesCache?: boolean;
  /** Options of the operator's account that customers may choose; default: none. */
  readonly customerChoices?: readonly CustomerChoice[];
  /** True if requests carry the headers of W3C Trace Context. */
  readonly continuesTraces?: boolean;
  /** Capacity for all models and keys together; undefined if not declared. */
  readonly capacity?: Capacity | undefined;
  /** A cloud's credentials, which replace keys. */
  readonly credentials?: CloudCredentials | undefined;
  readonly isDemo: boolean;
  /** False if the upstream lacks a required key; its routes are left out. */
  readonly isEnabled: boolean;
  /** Key under which the health of its API keys is kept; differs between a variant and its base. Default: the name. */
  readonly healthName?: string;
}

/** A model on one upstream. Timeouts are in seconds; undefined means the value of the `upstream` stage. */
export interface Route {
  readonly id: string; // upstream/model, with the name that the upstream gives the model
  readonly upstream: Upstream;
  readonly model: string; // the upstream's name
  /** Lower values are tried first. Routes of equal priority share requests by weight. */
  readonly priority: number;
  readonly weight: number;
  readonly connectTimeout: number | undefined;
  readonly firstByteTimeout: number | undefined;
  readonly idleTimeout: number | undefined;
  /** Maximum tokens of a prompt; undefined if neither route nor model declares it. */
  readonly maxInputTokens: number | undefined;
  readonly profile: Profile;
  /** Key under which the route's health is kept, as with `Upstream.healthName`. Default: the id. */
  readonly healthName?: string;
}

/** A model of the catalog and the routes that serve it, primary first. */
export interface Model {
  readonly id: string; // the short name: its key in gateway.yaml
  readonly publicName: string; // prefix/id: what clients see
  readonly displayName: string;
  readonly kind: ModelKind;
  readonly routes: readonly Route[];
  /** Seconds without content after which the next route is asked as well; undefined for never. */
  readonly hedgeAfter?: number | undefined;
  /** True if the next route continues a streamed text that broke off. */
  readonly resume?: boolean | undefined;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/** A name that clients can pick from a list: the public name of a model, or an exact alias. */
export interface ListedModel {
  readonly name: string;
  readonly model: Model;
}

/** All models. Immutable; a reload makes a new one. */
export interface Catalog {
  /** Models in the order of gateway.yaml. */
  readonly models: readonly Model[];
  /** Entries of `GET /v1/models`: the models by their public names, then the exact aliases with the same prefix. */
  readonly listed: readonly ListedModel[];
  readonly upstreams: readonly Upstream[];
  /** Models whose upstreams are all off. */
  readonly unavailable: readonly Model[];
  /** Finds a model by short name, public name or alias; an alias may carry the prefix of public names. */
  resolve(name: string): Model | undefined;
  /** True for a name, or alias, of a model whose upstreams are all off. */
  isUnavailable(name: string): boolean;
  /** The most similar public name or alias, for "did you mean". */
  suggest(name: string): string | undefined;
}
