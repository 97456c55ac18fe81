import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent, Dispatcher } from 'undici';
import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { answerText } from '#core/platform/answer-text.ts';
import { PaymentError } from './payment-provider.ts';

/** One request to the API of a payment provider. */
export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** The provider's response: any status, a JSON object. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Seconds of `retry-after`, where the provider stated them. */
  readonly retryAfter: number | undefined;
}

/** The provider's rate limit as reported in response headers. */
export interface RateStatement {
  /** True if the call was rejected for its rate. */
  readonly isExceeded: boolean;
  /** Seconds until the provider accepts calls again; undefined if it accepts them now, or does not say. */
  readonly pause: number | undefined;
}

/** Receives the rate limits reported in the responses of one operation. */
export const rateListener = new AsyncLocalStorage<(statement: RateStatement) => void>();

const deadline = 15_000; // ms
const connectTimeout = 5_000; // ms

/** One call per connection: if the provider had closed an idle connection, the outcome of a charge would be unknown. */
class SingleUseConnections {
  #agent: Agent | undefined;

  open(Class: typeof Agent): Agent {
    return (this.#agent ??= new Class({ connect: { timeout: connectTimeout }, pipelining: 0 }));
  }
}

const connections = new SingleUseConnections();

/** Error codes from before a connection was open: the provider has seen nothing. */
const unopened =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS|DEPTH_|SELF_|UNABLE_)/;

/**
 * Calls a provider's API once, within 15 seconds. Follows no redirects and reads at most 256 KB.
 *
 * @throws PaymentError `temporary` if nothing reached the provider, and for a GET; otherwise `unknown`: no answer in time, a broken
 * connection, anything but a JSON object
 */
export async function callProvider(call: ProviderCall): Promise<ProviderAnswer> {
  const { host } = new URL(call.url);
  const answer = await send(call).catch((error: unknown) => {
    throw new PaymentError(kindOf(call, error), `${host} did not answer: ${reasonOf(error)}`, { cause: error });
  });
  const retryAfter = secondsIn(answer.headers, /^retry-after$/);
  rateListener.getStore()?.(rateIn(answer.status, answer.headers, retryAfter));
  const body = parseObject(answer.text);
  if (body !== undefined) return { status: answer.status, body, retryAfter };
  throw new PaymentError(failureOf(call), `${host} answered ${answer.status} without a JSON object`);
}

/** Returns the kind of a failure with an unknown effect: a GET is safe to repeat. */
export function failureOf({ method }: Pick<ProviderCall, 'method'>): 'temporary' | 'unknown' {
  return method === 'GET' ? 'temporary' : 'unknown';
}

async function send({ method, url, headers, body, signal }: ProviderCall) {
  // Loaded on the first call: commands make none.
  const { Agent, request } = await import('undici');
  const answer = await request(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadline)]),
    dispatcher: connections.open(Agent),
    reset: true,
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    text: await answerText(answer.body, bounds.providerAnswer),
  };
}

function kindOf(call: ProviderCall, error: unknown): PaymentError['kind'] {
  return unopened.test(codeOf(error)) ? 'temporary' : failureOf(call);
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** System error code or our own message, without addresses and secrets. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) return 'timeout';
  return codeOf(error) || (error instanceof Error ? error.message : 'no reason');
}

type Headers = Dispatcher.ResponseData['headers'];

/** Reads `Rate-Limit-Remaining` and `Rate-Limit-Reset` (Xendit) in any of their usual spellings. */
function rateIn(status: number, headers: Headers, retryAfter: number | undefined): RateStatement {
  const isExceeded = status === 429;
  const isSpent = isExceeded || secondsIn(headers, /^(x-)?rate-?limit-remaining$/) === 0;
  const reset = secondsIn(headers, /^(x-)?rate-?limit-reset$/);
  return { isExceeded, pause: isSpent ? (retryAfter ?? reset) : undefined };
}

/** Seconds from a header that holds seconds, or the Unix time at which they end. */
function secondsIn(headers: Headers, name: RegExp): number | undefined {
  const [, value] = Object.entries(headers).find(([header]) => name.test(header)) ?? [];
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  const seconds = number > 1_000_000_000 ? number - Date.now() / 1_000 : number;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
