import {
  callProvider,
  failureOf,
  type ProviderAnswer,
  type ProviderCall,
} from '#core/business/payments/call-provider.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { type MidtransSettings, getApiOrigin, requireKey } from './section.ts';

interface MidtransCall extends Pick<ProviderCall, 'method' | 'body' | 'signal' | 'headers'> {
  readonly path: string; // relative to the API's origin
  readonly accepts?: readonly number[]; // codes above 399 that are valid results, such as 404 and 407 for a status call
}

const maxIdempotencyKeyLength = 46; // Midtrans silently ignores longer keys

/**
 * The code is in the body, as text; most failures have HTTP status 200.
 *
 * @throws PaymentError classified by that code
 */
export async function callMidtrans(settings: MidtransSettings, call: MidtransCall): Promise<JsonObject> {
  const { path, accepts = [], headers, ...request } = call;
  const authorization = `Basic ${Buffer.from(`${requireKey(settings)}:`).toString('base64')}`;
  const response = await callProvider({
    ...request,
    url: getApiOrigin(settings) + path,
    headers: { authorization, ...headers },
  });
  const code = readCode(response);
  if (code !== undefined && (code < 400 || accepts.includes(code))) return response.body;
  throw createPaymentError(response, code, call);
}

/** Makes a POST idempotent for five minutes, across all endpoints of the API. */
export function createIdempotencyHeader(key: string): Record<string, string> {
  return key.length > maxIdempotencyKeyLength ? {} : { 'idempotency-key': key };
}

/** Reads the code in the body, or the HTTP status of an error that has none, such as a proxy's. */
export function readCode({ status, body }: Pick<ProviderAnswer, 'status' | 'body'>): number | undefined {
  const code = body['status_code'];
  if (typeof code === 'string' && /^\d{3}$/.test(code)) return Number(code);
  return code === undefined && status >= 400 ? status : undefined;
}

function createPaymentError(
  { body, retryAfter }: ProviderAnswer,
  code: number | undefined,
  call: MidtransCall,
): PaymentError {
  const detail = typeof body['status_message'] === 'string' ? body['status_message'].slice(0, 200) : 'no message';
  const message = `Midtrans answered ${code ?? 'without a code'} to ${call.method} ${call.path}: ${detail}`;
  const options = { isRateLimited: code === 429, ...(retryAfter !== undefined && { retryAfter }) };
  return new PaymentError(classifyError(code, call), message, options);
}

/** 406 means that a charge with this order id exists: an earlier request for it got through. */
function classifyError(code: number | undefined, call: MidtransCall): PaymentError['kind'] {
  if (code === 429) return 'temporary';
  if (code === 406) return 'unknown';
  return code === undefined || code >= 500 ? failureOf(call) : 'rejected';
}

export function readText(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
