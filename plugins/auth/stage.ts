import type { AccountRecord } from '#core/accounts/account-record.ts';
import { accountDirectory } from '#core/accounts/directory.ts';
import { GatewayError } from '#core/errors/table.ts';
import { principal } from '#core/facts.ts';
import type { Service } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { presentedKeys } from './credentials.ts';
import { identify } from './identify.ts';

/**
 * Identifies the caller by its API key, before the body is read. Of several keys any valid one suffices; of keys of
 * several accounts the first counts, see `presentedKeys`.
 *
 * @throws GatewayError `invalid_api_key`, with the same message for every invalid key; `unavailable` when the database does
 * not answer and the key has not been seen before
 */
export const auth = defineStage({
  name: 'auth',
  description: 'Identifies callers by their API key.',
  writes: [principal],
  options: {
    type: 'object',
    properties: {
      cache_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: 3600,
        default: 60,
        description:
          'Seconds for which a key is cached. A rotated key is rejected immediately, regardless of this value.',
      },
    },
    additionalProperties: false,
  },
  async create({ cache_seconds: maxAge }, host) {
    const directory = accountDirectory(host);
    await directory.ready();
    const { prefix } = host.service;

    return {
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const found = identify(directory, presentedKeys(exchange.headers, prefix), maxAge);
        if (found instanceof Promise) return found.then((account) => admit(exchange, account, host.service));
        admit(exchange, found, host.service);
      },
    };
  },
});

function admit(exchange: Exchange, account: AccountRecord | undefined, service: Service): void {
  if (account?.key === undefined) throw invalidKey(service);
  exchange.set(principal, {
    accountId: account.id,
    keyId: account.key.id,
    keyHint: account.key.hint,
    limits: account.key.limits,
    requestCount: account.requestCount,
  });
}

/** The same for a key that is missing, misspelt, unknown, rotated or in the URL, so that it tells a stranger nothing. */
function invalidKey({ name, prefix, baseUrl }: Service): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    `The ${name} API key is missing or invalid. Send yours as "Authorization: Bearer ${prefix}-…", never in the URL; see ${baseUrl}`,
    { headers: { 'www-authenticate': 'Bearer' } },
  );
}
