import { createHash } from 'node:crypto';
import { adapter, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';

/** The session that the client names, unique across accounts; undefined when it names none. */
export function accountSession(exchange: Exchange): string | undefined {
  const { session } = exchange.get(adapter);
  return session === undefined ? undefined : `${accountOf(exchange)}/${session}`;
}

/**
 * The conversation that a request belongs to. Where the client names no session, its opening identifies it: clients send
 * the whole conversation with each turn, so only the beginning stays the same.
 */
export function conversationOf(exchange: Exchange): string {
  return accountSession(exchange) ?? hash(accountOf(exchange), exchange.get(adapter).opening);
}

function accountOf(exchange: Exchange): string {
  return exchange.find(principal)?.accountId ?? '';
}

function hash(account: string, opening: string): string {
  return createHash('sha256').update(`${account}\n${opening}`).digest('base64url');
}
