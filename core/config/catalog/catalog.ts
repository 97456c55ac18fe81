import type { Logger } from '#core/platform/logger.ts';
import type { CloudCredentials } from './credentials.ts';
import type { CustomerChoice } from './customer-choices.ts';
import type { ModelKind } from './kinds.ts';
import type { Profile, ProfileSettings } from './profile.ts';

/** The preset of a vendor. The plugin `upstream` registers the presets. */
export interface Vendor extends ProfileSettings {
  readonly name: string; // in gateway.yaml: openai, anthropic, …
  readonly title: string; // display name
  /** Names of the formats of the vendor's endpoint. */
  readonly formats: readonly string[];
  /**
   * Base URL with the version segment. The format's path (`/chat/completions`) is appended. Omitted if each customer of the vendor has a
   * separate URL, which gateway.yaml sets.
   */
  readonly baseUrl?: string;
  /** Example of a base URL. */
  readonly baseUrlExample?: string;
  readonly auth: AuthScheme;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings for models whose upstream name matches. Later matches override earlier ones. */
  readonly models?: readonly VendorModels[];
  /** True for a vendor with made-up replies, which is refused in production. */
  readonly isDemo?: boolean;
  /** Starts the vendor's server in the gateway, once, when an upstream first uses it. */
  start?(parts: { readonly log: Logger }): Promise<{ readonly baseUrl: string } & AsyncDisposable>;
}

/** Settings for some models of a vendor. Their kind only applies if the upstream has an endpoint for it. */
export interface VendorModels extends ProfileSettings {
  readonly match: string; // upstream name, in which `*` matches any text
  readonly kind?: ModelKind;
}

/** Places of an API key in a request: `Authorization: Bearer`, a header of this name, or none. */
export const authSchemes = ['bearer', 'x-api-key', 'x-goog-api-key', 'api-key', 'none'] as const;

/** How an API key is sent to an upstream. */
export type AuthScheme = (typeof authSchemes)[number];

/** An upstream's capacity. Undeclared members are infinite. */
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
  /** The end user in upstream requests: as sent by the client, or a keyed hash of the account. */
  readonly endUser: 'client' | 'hash';
  /** True if accounts cannot read each other's entries in the vendor's prompt cache. */
  readonly isolatesCache?: boolean;
  /** Options of the operator's account that customers may choose; default: none. */
  readonly customerChoices?: readonly CustomerChoice[];
  /** True if requests carry the headers of W3C Trace Context. */
  readonly continuesTraces?: boolean;
  /** Capacity for all models and keys together; undefined if not declared. */
  readonly capacity?: Capacity | undefined;
  /** Credentials of a cloud, which replace the keys. */
  readonly credentials?: CloudCredentials | undefined;
  readonly isDemo: boolean;
  /** False if the upstream lacks a required key. Its routes are then omitted. */
  readonly isEnabled: boolean;
  /** Key of the health of its API keys, which differs between a variant and its base. Default: the name. */
  readonly healthName?: string;
}

/** A model on one upstream. Timeouts are in seconds; undefined means the value of the `upstream` stage. */
export interface Route {
  readonly id: string; // upstream/model, with the upstream's name of the model
  readonly upstream: Upstream;
  readonly model: string; // the upstream's name
  /** Lower values are tried first. Routes of equal priority share requests by weight. */
  readonly priority: number;
  readonly weight: number;
  readonly connectTimeout: number | undefined;
  readonly firstByteTimeout: number | undefined;
  readonly idleTimeout: number | undefined;
  /** Maximum tokens of a prompt; undefined if neither route nor model declares them. */
  readonly maxInputTokens: number | undefined;
  readonly profile: Profile;
  /** Key of the route's health, see `Upstream.healthName`. Default: the id. */
  readonly healthName?: string;
}

/** A model of the catalog, and the routes that serve it, primary first. */
export interface Model {
  readonly id: string; // the short name: its key in gateway.yaml
  readonly publicName: string; // prefix/id, as shown to clients
  readonly displayName: string;
  readonly kind: ModelKind;
  readonly routes: readonly Route[];
  /** Seconds without content after which the next route is tried in parallel; undefined for never. */
  readonly hedgeAfter?: number | undefined;
  /** True if the next route continues an interrupted text stream. */
  readonly resume?: boolean | undefined;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/** An entry of the list of models: the public name of a model, or an exact alias. */
export interface ListedModel {
  readonly name: string;
  readonly model: Model;
}

/** All models. Immutable; a reload creates a new catalog. */
export interface Catalog {
  /** Models in the order of gateway.yaml. */
  readonly models: readonly Model[];
  /** Entries of `GET /v1/models`: the models by their public names, then the exact aliases with the same prefix. */
  readonly listed: readonly ListedModel[];
  readonly upstreams: readonly Upstream[];
  /** Models whose upstreams are all disabled. */
  readonly unavailable: readonly Model[];
  /** Finds a model by short name, public name or alias. An alias may have the prefix of public names. */
  resolve(name: string): Model | undefined;
  /** Returns true for a name or alias of a model whose upstreams are all disabled. */
  isUnavailable(name: string): boolean;
  /** Finds the most similar public name or alias, for "did you mean". */
  suggest(name: string): string | undefined;
}
