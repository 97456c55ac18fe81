import type { Logger } from '#core/platform/logger.ts';
import type { CloudCredentials } from './credentials.ts';
import type { CustomerChoice } from './customer-choices.ts';
import type { ModelKind } from './kinds.ts';
import type { Profile, ProfileSettings } from './profile.ts';

/** A vendor's preset. The plugin `upstream` registers the presets. */
export interface Vendor extends ProfileSettings {
  readonly name: string; // as in gateway.yaml: openai, anthropic, …
  readonly title: string; // display name
  /** Names of the formats that the vendor's endpoint accepts. */
  readonly formats: readonly string[];
  /**
   * Base URL, including the version segment. The format's path (`/chat/completions`) is appended. Omitted if every customer of the vendor
   * has a separate URL; gateway.yaml must then set it.
   */
  readonly baseUrl?: string;
  /** Example of a base URL, for advice. */
  readonly baseUrlExample?: string;
  readonly auth: AuthScheme;
  /** Headers sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Settings for models whose upstream name matches. All matching entries apply in order; later ones override earlier ones. */
  readonly models?: readonly VendorModels[];
  /** True if the vendor makes up its replies. It is then refused in production. */
  readonly isDemo?: boolean;
  /** Starts the vendor's server inside the gateway, once, when an upstream first uses it. */
  start?(parts: { readonly log: Logger }): Promise<{ readonly baseUrl: string } & AsyncDisposable>;
}

/** Settings for some of a vendor's models. Their kind applies only if the upstream has an endpoint for it. */
export interface VendorModels extends ProfileSettings {
  readonly match: string; // upstream name; `*` matches any text
  readonly kind?: ModelKind;
}

/** Where a request carries the API key: in `Authorization: Bearer`, in a header of this name, or nowhere. */
export const authSchemes = ['bearer', 'x-api-key', 'x-goog-api-key', 'api-key', 'none'] as const;

/** How an API key is sent to an upstream. */
export type AuthScheme = (typeof authSchemes)[number];

/** Maximum load on an upstream. Undeclared members are unlimited. */
export interface Capacity {
  readonly concurrent: number; // requests in flight
  readonly requests: number; // per period
  readonly period: number; // ms
}

/** An endpoint that requests are sent to. */
export interface Upstream {
  readonly name: string;
  readonly vendor: string | undefined;
  readonly formats: readonly string[]; // format names
  readonly baseUrl: string; // without a trailing slash
  readonly auth: AuthScheme;
  readonly apiKeys: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** How upstream requests identify the end user: as the client did, or by a keyed hash of the account. */
  readonly endUser: 'client' | 'hash';
  /** True to keep accounts from reading each other's entries in the vendor's prompt cache. */
  readonly isolatesCache?: boolean;
  /** Options on the operator's vendor account that customers may choose; default: none. */
  readonly customerChoices?: readonly CustomerChoice[];
  /** True if requests carry W3C Trace Context headers. */
  readonly continuesTraces?: boolean;
  /** Capacity for all models and keys together; undefined if not declared. */
  readonly capacity?: Capacity | undefined;
  /** Cloud credentials, used instead of keys. */
  readonly credentials?: CloudCredentials | undefined;
  readonly isDemo: boolean;
  /** False if the upstream needs a key and has none. Its routes are then omitted. */
  readonly isEnabled: boolean;
  /** Name under which the health of its API keys is stored. Differs between a variant and its base. Default: the name. */
  readonly healthName?: string;
}

/** A model at one upstream. Timeouts are in seconds; undefined leaves them to the `upstream` stage. */
export interface Route {
  readonly id: string; // upstream/model, with the model's name at the upstream
  readonly upstream: Upstream;
  readonly model: string; // the model's name at the upstream
  /** Lower values are tried first. Routes with equal priority share requests by weight. */
  readonly priority: number;
  readonly weight: number;
  readonly connectTimeout: number | undefined;
  readonly firstByteTimeout: number | undefined;
  readonly idleTimeout: number | undefined;
  /** Maximum tokens in a prompt; undefined if neither the route nor the model declares a limit. */
  readonly maxInputTokens: number | undefined;
  readonly profile: Profile;
  /** Name under which the route's health is stored; see `Upstream.healthName`. Default: the id. */
  readonly healthName?: string;
}

/** A model in the catalog, and the routes that serve it, primary first. */
export interface Model {
  readonly id: string; // the short name: its key in gateway.yaml
  readonly publicName: string; // prefix/id, as clients see it
  readonly displayName: string;
  readonly kind: ModelKind;
  readonly routes: readonly Route[];
  /** After this many seconds without content, the next route is tried in parallel; undefined for never. */
  readonly hedgeAfter?: number | undefined;
  /** True if the next route continues a text stream that was interrupted. */
  readonly resume?: boolean | undefined;
  readonly maxInputTokens: number | undefined;
  readonly maxOutputTokens: number | undefined;
}

/** An entry in the list of models: a model's public name, or an exact alias. */
export interface ListedModel {
  readonly name: string;
  readonly model: Model;
}

/** All models. Immutable: a reload creates a new catalog. */
export interface Catalog {
  /** Models, in the order of gateway.yaml. */
  readonly models: readonly Model[];
  /** What `GET /v1/models` lists: the models by public name, then the exact aliases with the same prefix. */
  readonly listed: readonly ListedModel[];
  readonly upstreams: readonly Upstream[];
  /** Models all of whose upstreams are disabled. */
  readonly unavailable: readonly Model[];
  /** Finds a model by short name, public name or alias. An alias may have the prefix of public names. */
  resolve(name: string): Model | undefined;
  /** Returns true if the name or alias belongs to a model all of whose upstreams are disabled. */
  isUnavailable(name: string): boolean;
  /** Returns the most similar public name or alias, for "did you mean". */
  suggest(name: string): string | undefined;
}
