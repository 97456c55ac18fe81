import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '../host/host.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A limit and its remaining part. */
interface Allowance {
  readonly limit: number;
  readonly left: number;
}

/** Limits of a key as reported in the headers of a vendor's response. */
export interface ToldLimits {
  readonly upstream: string; // name
  readonly at: number; // epoch ms
  readonly requests: Allowance | undefined;
  readonly tokens: Allowance | undefined;
}

/** Minimum ms between readings of an upstream's headers. */
const interval = 10_000;

/** Header names of OpenAI and most other vendors, of Anthropic, and for requests also names without a kind, including the IETF draft's. */
const names = {
  requests: [
    ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'],
    ['anthropic-ratelimit-requests-limit', 'anthropic-ratelimit-requests-remaining'],
    ['x-ratelimit-limit', 'x-ratelimit-remaining'],
    ['ratelimit-limit', 'ratelimit-remaining'],
  ],
  tokens: [
    ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens'],
    ['anthropic-ratelimit-tokens-limit', 'anthropic-ratelimit-tokens-remaining'],
  ],
} as const;

/** Latest limits reported by vendors to this instance. Only a sample of the responses is read. */
export class LimitSamples {
  readonly #host: Pick<Host, 'now' | 'monotonic'>;
  readonly #nextAt = new WeakMap<Upstream, number>();
  readonly #latest = new Map<string, ToldLimits>();

  constructor(host: Pick<Host, 'now' | 'monotonic'>) {
    this.#host = host;
  }

  /** A response of an upstream ended. */
  observe(upstream: Upstream, headers: Headers): void {
    const now = this.#host.monotonic();
    if (now < (this.#nextAt.get(upstream) ?? -Infinity)) return;
    this.#nextAt.set(upstream, now + interval);
    const [requests, tokens] = [readAllowance(headers, names.requests), readAllowance(headers, names.tokens)];
    if (requests === undefined && tokens === undefined) return;
    this.#latest.set(upstream.name, { upstream: upstream.name, at: this.#host.now(), requests, tokens });
  }

  /** Latest limits of the upstreams in gateway.yaml. */
  latest({ catalog }: Pick<Host, 'catalog'>): ToldLimits[] {
    return catalog.upstreams.flatMap(({ name }) => this.#latest.get(name) ?? []);
  }
}

function readAllowance(headers: Headers, pairs: readonly (readonly [string, string])[]): Allowance | undefined {
  for (const [limitName, leftName] of pairs) {
    const [limit, left] = [countIn(headers[limitName]), countIn(headers[leftName])];
    if (limit !== undefined && left !== undefined) return { limit, left };
  }
  return undefined;
}

function countIn(value: string | string[] | undefined): number | undefined {
  const text = value?.toString() ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

export function limitSamples(host: Pick<Host, 'keep' | 'now' | 'monotonic'>): LimitSamples {
  return host.keep('told-limits', () => new LimitSamples(host));
}
