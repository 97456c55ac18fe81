import type { AddressInfo } from 'node:net';
import type { Server } from '@hapi/hapi';
import { getAccessTokens } from '#core/business/accounts/access-token.ts';
import { readResponseText } from '#core/platform/response-text.ts';
import { accountOf, type PageRequest } from '#core/web/pages/page.ts';
import { paths } from '../code/write-code.mjs';
import { tryBounds } from './conversation.ts';

/** Longer than the timeout of a model call, whose error is more specific. */
const timeoutMs = 300_000;

const maxResponseBytes = 4 * 1024 * 1024;

export interface ChatResult {
  /** `x-request-id`; '' if the gateway did not respond. */
  readonly id: string;
  readonly status: number; // 0 if the gateway did not respond
  readonly answer: string;
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly duration: number; // ms
  readonly error: { readonly message: string; readonly retryAfter: number | undefined } | undefined;
}

/**
 * Sends a conversation in the same way as the page's script: through the gateway's own listener, so that it passes the pipeline
 * and is recorded like any request. Never rejects.
 */
export async function sendConversation(
  listener: Server['listener'],
  page: PageRequest,
  body: object,
): Promise<ChatResult> {
  const startedAt = performance.now();
  try {
    const token = await signToken(page);
    // Loaded on first use, because commands never need it.
    const { request } = await import('undici');
    const {
      statusCode,
      headers,
      body: responseBody,
    } = await request(`${buildListenerUrl(listener)}/v1${paths.chat}`, {
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
    const result = parseResponse(
      statusCode,
      await readResponseText(responseBody, maxResponseBytes),
      String(headers['retry-after'] ?? ''),
    );
    const duration = performance.now() - startedAt;
    return { id: String(headers['x-request-id'] ?? ''), status: statusCode, duration, ...result };
  } catch (error) {
    page.host.log.error(`${page.path}: a playground request failed, page request ${page.id}`, error);
    const duration = performance.now() - startedAt;
    const connectionError = { message: '', retryAfter: undefined };
    return { id: '', status: 0, answer: '', usage: undefined, duration, error: connectionError };
  }
}

/** Signs a token for the reader's session, valid for ten minutes. */
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

interface ChatResponse {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly error?: { readonly message?: string };
}

function parseResponse(
  status: number,
  text: string,
  retryAfter: string,
): Pick<ChatResult, 'answer' | 'usage' | 'error'> {
  const reply = JSON.parse(text) as ChatResponse;
  if (status !== 200) {
    const seconds = Number.parseInt(retryAfter, 10);
    const error = {
      message: reply.error?.message ?? '',
      retryAfter: Number.isNaN(seconds) ? undefined : seconds,
    };
    return { answer: '', usage: undefined, error };
  }
  const { usage } = reply;
  return {
    answer: (reply.choices?.[0]?.message?.content ?? '').slice(0, tryBounds.answer),
    usage: usage && { input: usage.prompt_tokens, output: usage.completion_tokens },
    error: undefined,
  };
}
