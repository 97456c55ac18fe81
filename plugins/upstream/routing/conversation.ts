import { hash } from 'node:crypto';
import { adapter, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Requester } from '../health/requester.ts';

const digestCharacters = 16; // 96 bits
const accountDigests = new Map<string, string>();

/** Returns the session id that the client sent, made unique across accounts; undefined if it sent none. */
export function readAccountSession(exchange: Exchange): string | undefined {
  const { session } = exchange.get(adapter);
  return session === undefined ? undefined : `${getAccountId(exchange)}/${session}`;
}

/**
 * If the client sends no session id, the opening identifies the conversation: clients send all of it with each turn, and only its start
 * stays the same.
 */
function identifyConversation(exchange: Exchange): string {
  return (
    readAccountSession(exchange) ??
    hash('sha256', `${getAccountId(exchange)}\n${exchange.get(adapter).opening}`, 'base64url')
  );
}

/**
 * Account and conversation of a request, each computed on first use. It is a class because V8 keeps the getters of an object literal, and
 * with them the exchange, in memory until the next full collection.
 */
export class ExchangeRequester implements Requester {
  readonly #exchange: Exchange;
  #account: string | undefined;
  #conversation: string | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get account(): string {
    return (this.#account ??= digestAccount(getAccountId(this.#exchange)));
  }

  get conversation(): string {
    return (this.#conversation ??= identifyConversation(this.#exchange));
  }
}

function digestAccount(account: string): string {
  // Maps have to hash every new string object, so an account keeps its own.
  let digest = accountDigests.get(account);
  if (digest === undefined) {
    digest = hash('sha256', account, 'base64url').slice(0, digestCharacters);
    if (accountDigests.size >= bounds.accountDigests) accountDigests.clear();
    accountDigests.set(account, digest);
  }
  return digest;
}

export function getAccountId(exchange: Exchange): string {
  return exchange.find(principal)?.accountId ?? '';
}
