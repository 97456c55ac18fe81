import type { Upstream } from '#core/config/catalog/catalog.ts';
import { describeFailure } from '#core/platform/errors/connection-error.ts';
import { isJsonObject, type JsonObject, parseJson, parseObject } from '#core/platform/json.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import { readResponseText } from '#core/platform/response-text.ts';
import { createAuthHeaders, listSecrets } from './upstream-credentials.ts';
import { readRefusal, removeSecrets } from './upstream-error.ts';

const lookupTimeoutMs = 10_000;
const maxMessageLength = 200;

/** Thrown if a vendor did not provide the requested data. The message contains no secrets. */
export class LookupFailed extends Error {
  override readonly name = 'LookupFailed';
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

type QueriedUpstream = Pick<Upstream, 'baseUrl' | 'apiKeys' | 'headers' | 'auth' | 'formats'>;

/**
 * Queries a vendor about its models or an account. Redirects are not followed, so that the key is sent only to the upstream's host. The
 * result has no effect on the health of routes.
 *
 * @param path path below the base URL, such as `/models`, or below the host if it starts with `//`, such as `//user/balance`
 * @param maxBytes maximum size of the response
 * @throws LookupFailed
 */
export async function queryVendor(
  upstream: QueriedUpstream,
  key: string,
  path: string,
  maxBytes: number,
): Promise<JsonObject> {
  const { baseUrl, auth, headers, formats } = upstream;
  const version = formats.includes('messages') ? { 'anthropic-version': '2023-06-01' } : {};
  const url = path.startsWith('//') ? new URL(baseUrl).origin + path.slice(1) : baseUrl + path;
  const secrets = [...listSecrets(upstream), key].filter((secret) => secret !== '');
  try {
    const response = await outgoingFetch(url, {
      headers: { accept: 'application/json', ...version, ...headers, ...createAuthHeaders(auth, key) },
      redirect: 'error',
      signal: AbortSignal.timeout(lookupTimeoutMs),
    });
    const text = await readResponseText(response.body, maxBytes);
    if (!response.ok) throw createRefusal(response.status, text, secrets);
    const value = parseJson(text);
    if (isJsonObject(value)) return value;
    if (Array.isArray(value)) return { data: value };
    throw new LookupFailed('the answer is not a JSON object', response.status);
  } catch (error) {
    if (error instanceof LookupFailed) throw error;
    const reason = describeFailure(describeFetchError(error));
    throw new LookupFailed(removeSecrets(reason, maxMessageLength, secrets), undefined, { cause: error });
  }
}

function createRefusal(status: number, text: string, secrets: readonly string[]): LookupFailed {
  const { message = '' } = readRefusal(parseObject(text));
  const safeMessage = removeSecrets(message.replace(/[\s\0]+/g, ' ').trim(), maxMessageLength, secrets);
  return new LookupFailed(safeMessage === '' ? `status ${status}` : `status ${status}: ${safeMessage}`, status);
}

function describeFetchError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${lookupTimeoutMs / 1000} s`;
  return error.cause instanceof Error ? error.cause.message : error.message;
}
