import { createHash } from 'node:crypto';
import { adapter, principal } from '#core/facts.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';

/** What requests of one conversation have in common, as their client names it; undefined when it does not. */
export function accountSession(exchange: Exchange): string | undefined {
  const { session } = exchange.get(adapter);
  // Two accounts may use the same name for their sessions.
  return session === undefined ? undefined : `${accountOf(exchange)}/${session}`;
}

/**
 * The conversation that a request is part of. Where the client does not name it, it is told by how it begins: clients
 * send all of it with each turn, so the whole body is another one each time.
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
