import { decodePercent } from '#core/platform/percent-encoding.ts';
import type { Endpoint } from '../pipeline/exchange.ts';

export interface EndpointMatch {
  readonly endpoint: Endpoint;
  readonly params: Readonly<Record<string, string>>; // decoded
}

export interface WrongMethod {
  readonly allowedMethods: readonly string[];
}

/**
 * Finds the endpoint for a path. It also accepts paths of common misconfigurations, such as a missing or repeated version, a vendor's name
 * in front, and a trailing or double slash.
 */
export class EndpointTable {
  readonly #exact = new Map<string, Map<string, Endpoint>>();
  readonly #patterns: { readonly names: string[]; readonly regex: RegExp; readonly endpoint: Endpoint }[] = [];
  readonly #firstSegments = new Set<string>();

  constructor(endpoints: Iterable<Endpoint>) {
    for (const endpoint of endpoints) {
      if (endpoint.isAliased === true) this.#firstSegments.add(endpoint.path.split('/')[2] as string);
      if (endpoint.path.includes('{')) this.#patterns.push({ ...compilePattern(endpoint.path), endpoint });
      else this.#add(endpoint);
    }
  }

  /** First path segments after `/v1/` that are also served without `/v1`. */
  get aliases(): string[] {
    return [...this.#firstSegments];
  }

  /** True for the exact documented path of an endpoint without parameters. */
  has(path: string): boolean {
    return this.#exact.has(path);
  }

  /** Returns the endpoint, or the allowed methods if only other methods are served on the path; undefined for an unknown path. */
  findEndpoint(method: string, rawPath: string): EndpointMatch | WrongMethod | undefined {
    const path = this.has(rawPath) ? rawPath : toCanonicalPath(rawPath);
    const byMethod = this.#exact.get(path);
    const endpoint = byMethod?.get(method);
    if (endpoint !== undefined) return { endpoint, params: {} };
    if (byMethod !== undefined) return { allowedMethods: [...byMethod.keys()] };
    return this.#findPattern(method, path);
  }

  #findPattern(method: string, path: string): EndpointMatch | WrongMethod | undefined {
    const allowedMethods: string[] = [];
    for (const { names, regex, endpoint } of this.#patterns) {
      const values = regex.exec(path);
      if (values === null) continue;
      if (endpoint.method === method) {
        const params = names.map((name, index) => [name, decodePercent(values[index + 1] as string)]);
        return { endpoint, params: Object.fromEntries(params) };
      }
      if (namesResource(path, endpoint)) allowedMethods.push(endpoint.method);
    }
    return allowedMethods.length > 0 ? { allowedMethods } : undefined;
  }

  #add(endpoint: Endpoint): void {
    const byMethod = this.#exact.get(endpoint.path) ?? new Map<string, Endpoint>();
    this.#exact.set(endpoint.path, byMethod.set(endpoint.method, endpoint));
  }
}

export function stripQuery(url = ''): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** First path segments of base URLs at vendors and gateways that serve several formats. */
export const vendorSegments = ['anthropic', 'openai'] as const;

/** API versions that may start a path. Google's SDKs use `v1alpha` for previews and `v1beta1` for Vertex AI. */
export const versionSegments = ['v1', 'v1beta', 'v1alpha', 'v1beta1'] as const;

const version = `/(?:${versionSegments.join('|')})`;
/** The version may come first, because Google's OpenAI-compatible API is at `/v1beta/openai`. */
const vendorPrefix = new RegExp(`^(?:${version})?/(${vendorSegments.join('|')})(?=/)`);
const misplacedPrefix = new RegExp(`${vendorPrefix.source}|^${version}(?=/v\\d)`);

/** How Vertex AI names models. Its SDK splits a name with a slash, such as `dp/x`, into a publisher and a model. */
const vertexModels = /^\/v1(?:beta1)?(?:\/projects\/[^/]+\/locations\/[^/]+)?\/publishers\/[^/]+\/models\//;

const modelMethod = /:(?:generateContent|streamGenerateContent|countTokens)$/;
/**
 * The AI SDK sends a name with a slash without `models/`, because it mistakes the part before the slash for another of Google's
 * collections, such as `tunedModels`. Does not search for the method as well, because that would take 0.4 s for a long path.
 */
const bareModel = /^(\/v1(?:beta)?)\/(?!(?:models|tunedModels)\/)(?=[^/]+(?:\/|%2F))/i;

/** Returns the vendor's name in a path such as `/anthropic/v1/messages`. */
export function findVendorSegment(path: string): (typeof vendorSegments)[number] | undefined {
  return vendorPrefix.exec(path)?.[1] as (typeof vendorSegments)[number] | undefined;
}

/**
 * Returns the canonical path: `/v1/v1/messages/` → `/v1/messages`, `/messages` → `/v1/messages`, `/v1/v1beta/models` → `/v1beta/models`,
 * `/anthropic/v1/messages` → `/v1/messages`. A double slash, from a base URL with a trailing slash, counts as one slash. Cohere's
 * `/v2/rerank` is compatible with its `/v1/rerank`, and Google's `/v1alpha` and Vertex AI have the methods of models of `/v1beta`:
 * `/v1beta1/publishers/google/models/x:generateContent` → `/v1beta/models/x:generateContent`, `/v1beta/dp/x:generateContent` →
 * `/v1beta/models/dp/x:generateContent`.
 */
export function toCanonicalPath(path: string): string {
  const collapsedPath = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  const trimmedPath =
    collapsedPath.length > 1 && collapsedPath.endsWith('/') ? collapsedPath.slice(0, -1) : collapsedPath;
  // Applied twice, for a vendor's name and a second version after it.
  const canonical = trimmedPath.replace(misplacedPrefix, '').replace(misplacedPrefix, '');
  if (canonical === '/v2/rerank') return '/v1/rerank';
  const unpublished = canonical.replace(vertexModels, '/v1beta/models/').replace(/^\/v1(?:alpha|beta1)\//, '/v1beta/');
  const versioned = /^\/v1(beta)?\//.test(unpublished) ? unpublished : `/v1${unpublished}`;
  return modelMethod.test(versioned) ? versioned.replace(bareModel, '$1/models/') : versioned;
}

function namesResource(path: string, endpoint: Endpoint): boolean {
  // `…/models/x:verb` on `…/models/{id}` is an unknown verb, not a model with the wrong HTTP method.
  return endpoint.path.includes(':') || !/:[^/]*$/.test(path);
}

function compilePattern(path: string): { names: string[]; regex: RegExp } {
  const names: string[] = [];
  const source = path.replace(/\{(\w+)(\*?)\}/g, (_, name: string, wildcard: string) => {
    names.push(name);
    return wildcard === '*' ? '(.+)' : '([^/]+)';
  });
  return { names, regex: new RegExp(`^${source}$`) };
}
