import {
  callProvider,
  failureOf,
  type ProviderAnswer,
  type ProviderCall,
} from '#core/business/payments/call-provider.ts';
import { PaymentError } from '#core/business/payments/payment-provider.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { getApiOrigin, requireSecret, type XenditSettings } from './section.ts';

interface XenditCall extends Pick<ProviderCall, 'method' | 'body' | 'signal' | 'headers'> {
  readonly path: string; // relative to the API's origin
}

export const apiVersion = '2024-11-11'; // of the Payments API
const version = { 'api-version': apiVersion };

/** Returns undefined if the object does not exist (404). Throws PaymentError for any other failure. */
export async function callXendit(settings: XenditSettings, call: XenditCall): Promise<JsonObject | undefined> {
  const { path, headers, ...request } = call;
  const authorization = `Basic ${Buffer.from(`${requireSecret(settings, 'secret_key')}:`).toString('base64')}`;
  const url = getApiOrigin(settings) + path;
  const response = await callProvider({ ...request, url, headers: { authorization, ...version, ...headers } });
  if (response.status >= 200 && response.status < 300) return response.body;
  if (response.status === 404 && call.method === 'GET') return undefined;
  throw createPaymentError(response, call);
}

function createPaymentError({ status, body, retryAfter }: ProviderAnswer, call: XenditCall): PaymentError {
  const [code, detail] = [body['error_code'], body['message']].map((text) =>
    typeof text === 'string' ? text.slice(0, 200) : '–',
  );
  const message = `Xendit answered ${status} ${code} to ${call.method} ${call.path}: ${detail}`;
  const options = { isRateLimited: isRateLimit(status, code), ...(retryAfter !== undefined && { retryAfter }) };
  return new PaymentError(classifyError(status, code, call), message, options);
}

function isRateLimit(status: number, code: string | undefined): boolean {
  return status === 429 || code === 'PAYMENT_REQUEST_RATE_LIMITED';
}

/** 409 means that the object already exists or is being created. */
function classifyError(status: number, code: string | undefined, call: XenditCall): PaymentError['kind'] {
  if (isRateLimit(status, code)) return 'temporary';
  if (status === 409) return 'unknown';
  return status >= 500 || status < 400 ? failureOf(call) : 'rejected';
}

export function readText(body: JsonObject | undefined, name: string): string | undefined {
  const value = body?.[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A time without a zone is in UTC. */
export function parseTime(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined;
  const date = new Date(/(Z|[+-]\d\d:?\d\d)$/.test(value) ? value : `${value}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
