import type { AddressInfo } from 'node:net';
import type { Server } from '@hapi/hapi';
import { getAccessTokens } from '#core/business/accounts/access-token.ts';
import { parseObject } from '#core/platform/json.ts';
import { readResponseText } from '#core/platform/response-text.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { paths } from '../code/write-code.mjs';
import { tryBounds } from './conversation.ts';

const timeoutMs = 300_000; // longer than the timeout of a model call, so that the gateway's more specific error arrives first

const maxResponseBytes = 4 * 1024 * 1024;

export interface ChatResult {
  readonly id: string; // `x-request-id`; '' if the gateway did not respond
  readonly status: number; // 0 if the gateway did not respond, 502 if it responded with 200 but the reply could not be read
  readonly answer: string;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly durationMs: number;
  /** `message` is '' if the response contains none; the page then shows a generic one. */
  readonly error: { readonly message: string; readonly retryAfterSeconds: number | undefined } | undefined;
}

/**
 * Sends a conversation in the same way as the page's script: through the gateway's own listener, so that it goes through the
 * pipeline and is recorded like any other request. A failed request is a result, not a rejection.
 */
export async function sendConversation(
  listener: Server['listener'],
  page: PageRequest,
  body: object,
): Promise<ChatResult> {
  const startedAt = performance.now();
  let id = '';
  let status = 0;
  try {
    const token = await signToken(page);
    // Loaded on first use, because commands never need it.
    const { request } = await import('undici');
    const response = await request(`${buildListenerUrl(listener)}/v1${paths.chat}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'user-agent': page.userAgent,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    id = String(response.headers['x-request-id'] ?? '');
    status = response.statusCode;
    const text = await readResponseText(response.body, maxResponseBytes);
    const result =
      status === 200 ? parseReply(text) : parseError(text, parseRetryAfter(response.headers['retry-after']));
    return { id, status, durationMs: performance.now() - startedAt, ...result };
  } catch (error) {
    page.host.log.error(`${page.path}: playground request failed (page request ${page.id})`, error);
    const durationMs = performance.now() - startedAt;
    return { id, status: status === 200 ? 502 : status, durationMs, ...noMessage };
  }
}

function signToken(page: PageRequest): Promise<string> {
  const { id: accountId } = accountOf(page);
  const { sessionId = '' } = page;
  return getAccessTokens(page.host).sign(page.host.service.prefix, { accountId, sessionId });
}

function buildListenerUrl(listener: Server['listener']): string {
  const { address, port, family } = listener.address() as AddressInfo;
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

interface ChatReply {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

type ParsedResponse = Pick<ChatResult, 'answer' | 'usage' | 'error'>;

const noMessage: ParsedResponse = {
  answer: '',
  usage: undefined,
  error: { message: '', retryAfterSeconds: undefined },
};

function parseReply(text: string): ParsedResponse {
  const reply = parseObject(text) as ChatReply | undefined;
  if (reply === undefined) throw new Error('the reply is not a JSON object');
  const { choices, usage } = reply;
  return {
    answer: (choices?.[0]?.message?.content ?? '').slice(0, tryBounds.answer),
    usage: usage && { input: usage.prompt_tokens, output: usage.completion_tokens },
    error: undefined,
  };
}

function parseError(text: string, retryAfterSeconds: number | undefined): ParsedResponse {
  const { error } = (parseObject(text) ?? {}) as { readonly error?: { readonly message?: string } };
  return { answer: '', usage: undefined, error: { message: error?.message ?? '', retryAfterSeconds } };
}

function parseRetryAfter(value: string | string[] | undefined): number | undefined {
  const seconds = Number.parseInt(String(value), 10);
  return Number.isNaN(seconds) ? undefined : seconds;
}
