import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '../host/host.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Allowance {
  readonly limit: number;
  readonly left: number;
}

/** Limits of a key as reported in the headers of a vendor's response. */
export interface ReportedLimits {
  readonly upstream: string; // name
  readonly reportedAt: number; // epoch ms
  readonly requests: Allowance | undefined;
  readonly tokens: Allowance | undefined;
}

const sampleIntervalMs = 10_000;

/** Used by OpenAI and most vendors, by Anthropic, and by vendors that limit only requests (the last pair is from an IETF draft). */
const headerPairs = {
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

/** The latest limits that vendors reported to this instance. Only a sample of the responses is read. */
export class LimitSamples {
  readonly #host: Pick<Host, 'now' | 'monotonic'>;
  readonly #nextSampleAt = new WeakMap<Upstream, number>();
  readonly #latest = new Map<string, ReportedLimits>();

  constructor(host: Pick<Host, 'now' | 'monotonic'>) {
    this.#host = host;
  }

  observe(upstream: Upstream, headers: Headers): void {
    const now = this.#host.monotonic();
    if (now < (this.#nextSampleAt.get(upstream) ?? -Infinity)) return;
    this.#nextSampleAt.set(upstream, now + sampleIntervalMs);
    const requests = readAllowance(headers, headerPairs.requests);
    const tokens = readAllowance(headers, headerPairs.tokens);
    if (requests === undefined && tokens === undefined) return;
    this.#latest.set(upstream.name, { upstream: upstream.name, reportedAt: this.#host.now(), requests, tokens });
  }

  latest({ catalog }: Pick<Host, 'catalog'>): ReportedLimits[] {
    return catalog.upstreams.flatMap(({ name }) => this.#latest.get(name) ?? []);
  }
}

function readAllowance(headers: Headers, pairs: readonly (readonly [string, string])[]): Allowance | undefined {
  for (const [limitName, leftName] of pairs) {
    const [limit, left] = [parseCount(headers[limitName]), parseCount(headers[leftName])];
    if (limit !== undefined && left !== undefined) return { limit, left };
  }
  return undefined;
}

function parseCount(value: string | string[] | undefined): number | undefined {
  const text = value?.toString() ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : undefined;
}

export function getLimitSamples(host: Pick<Host, 'keep' | 'now' | 'monotonic'>): LimitSamples {
  return host.keep('limit-samples', () => new LimitSamples(host));
}
