import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent, Dispatcher } from 'undici';
import { bounds } from '#core/platform/bounds.ts';
import { type JsonObject, parseObject } from '#core/platform/json.ts';
import { readResponseText } from '#core/platform/response-text.ts';
import { PaymentError } from './payment-provider.ts';

export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** The provider's response, with any status, whose body is a JSON object. */
export interface ProviderAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Seconds in `Retry-After`, if the provider sent it. */
  readonly retryAfter: number | undefined;
}

/** The provider's rate limit, as reported in response headers. */
export interface RateReport {
  /** True if the rate limit rejected the call. */
  readonly isExceeded: boolean;
  /** Seconds until the provider accepts calls again; undefined if it accepts them now, or does not say. */
  readonly pauseSeconds: number | undefined;
}

/** Receives the rate limits reported in the responses to one operation. */
export const rateListener = new AsyncLocalStorage<(report: RateReport) => void>();

const deadlineMs = 15_000;
const connectTimeoutMs = 5_000;

/** Opens a new connection per call: a charge sent on an idle connection just as the provider closes it would have an unknown outcome. */
class SingleUseConnections {
  #agent: Agent | undefined;

  getAgent(AgentClass: typeof Agent): Agent {
    return (this.#agent ??= new AgentClass({ connect: { timeout: connectTimeoutMs }, pipelining: 0 }));
  }
}

const connections = new SingleUseConnections();

// The provider has received nothing yet when these errors occur.
const connectFailurePattern =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|CERT_|ERR_TLS|DEPTH_|SELF_|UNABLE_)/;

/**
 * Calls a provider's API once, within a deadline. Does not follow redirects, and limits the size of the response.
 *
 * @throws PaymentError `temporary` if nothing reached the provider, or for a GET; otherwise `unknown` for a timeout, a broken connection,
 *   or a body that is not a JSON object
 */
export async function callProvider(call: ProviderCall): Promise<ProviderAnswer> {
  const { host } = new URL(call.url);
  const response = await sendRequest(call).catch((error: unknown) => {
    throw new PaymentError(classifyError(call, error), `${host} did not answer: ${describeReason(error)}`, {
      cause: error,
    });
  });
  const retryAfter = readSeconds(response.headers, /^retry-after$/);
  rateListener.getStore()?.(readRateReport(response.status, response.headers, retryAfter));
  const body = parseObject(response.text);
  if (body !== undefined) return { status: response.status, body, retryAfter };
  throw new PaymentError(failureOf(call), `${host} answered ${response.status} without a JSON object`);
}

/** Returns the kind of error for a call whose effect is unknown. A GET can safely be repeated. */
export function failureOf({ method }: Pick<ProviderCall, 'method'>): 'temporary' | 'unknown' {
  return method === 'GET' ? 'temporary' : 'unknown';
}

async function sendRequest({ method, url, headers, body, signal }: ProviderCall) {
  // Imported on the first call, because commands make none.
  const { Agent, request } = await import('undici');
  const response = await request(url, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
    dispatcher: connections.getAgent(Agent),
    reset: true,
  });
  return {
    status: response.statusCode,
    headers: response.headers,
    text: await readResponseText(response.body, bounds.providerResponse),
  };
}

function classifyError(call: ProviderCall, error: unknown): PaymentError['kind'] {
  return connectFailurePattern.test(readErrorCode(error)) ? 'temporary' : failureOf(call);
}

function readErrorCode(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

function describeReason(error: unknown): string {
  // Neither the system's error code nor our own message contains addresses or secrets.
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) return 'timeout';
  return readErrorCode(error) || (error instanceof Error ? error.message : 'no reason');
}

type Headers = Dispatcher.ResponseData['headers'];

function readRateReport(status: number, headers: Headers, retryAfter: number | undefined): RateReport {
  // `Rate-Limit-Remaining` and `Rate-Limit-Reset` (Xendit), in any of their usual spellings.
  const isExceeded = status === 429;
  const isSpent = isExceeded || readSeconds(headers, /^(x-)?rate-?limit-remaining$/) === 0;
  const reset = readSeconds(headers, /^(x-)?rate-?limit-reset$/);
  return { isExceeded, pauseSeconds: isSpent ? (retryAfter ?? reset) : undefined };
}

function readSeconds(headers: Headers, name: RegExp): number | undefined {
  const [, value] = Object.entries(headers).find(([header]) => name.test(header)) ?? [];
  // Either a number of seconds, or a Unix timestamp.
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  const seconds = number > 1_000_000_000 ? number - Date.now() / 1_000 : number;
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
