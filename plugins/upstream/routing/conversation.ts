import { hash } from 'node:crypto';
import { adapter, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { Requester } from '../health/requester.ts';

const digestCharacters = 16; // 96 bits
const digests = new Map<string, string>();

/** Returns the session id sent by the client, unique across accounts; undefined without one. */
export function readAccountSession(exchange: Exchange): string | undefined {
  const { session } = exchange.get(adapter);
  return session === undefined ? undefined : `${getAccountId(exchange)}/${session}`;
}

/**
 * Returns an id for the conversation of a request. Without a session id of the client, the opening identifies the conversation, because
 * clients send the whole conversation with each turn and only its start stays constant.
 */
function identifyConversation(exchange: Exchange): string {
  return (
    readAccountSession(exchange) ??
    hash('sha256', `${getAccountId(exchange)}\n${exchange.get(adapter).opening}`, 'base64url')
  );
}

/**
 * Account and conversation of a request, each computed on first use. This is a class because V8 keeps the getter of an object literal, and
 * with it the exchange, in memory until the next full collection.
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

/** Returns the same string object for the same account, because maps have to hash every new string object. */
function digestAccount(account: string): string {
  let digest = digests.get(account);
  if (digest === undefined) {
    digest = hash('sha256', account, 'base64url').slice(0, digestCharacters);
    if (digests.size >= bounds.accountDigests) digests.clear();
    digests.set(account, digest);
  }
  return digest;
}

/** Returns the account id; empty for requests without an account. */
export function getAccountId(exchange: Exchange): string {
  return exchange.find(principal)?.accountId ?? '';
}
