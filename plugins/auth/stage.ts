import type { AccountRecord } from '#core/accounts/account-record.ts';
import { digestApiKey, isApiKey } from '#core/accounts/api-key.ts';
import { accountDirectory } from '#core/accounts/directory.ts';
import { GatewayError } from '#core/errors/table.ts';
import { principal } from '#core/facts.ts';
import type { Service } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { presentedCredential } from './credentials.ts';

/**
 * Finds out whose key the caller sends, before anything of the body is read.
 *
 * @throws GatewayError `invalid_api_key`, the same for every key that is not somebody's; `unavailable` when the database
 * does not answer and the key has not been seen before
 */
export const auth = defineStage({
  name: 'auth',
  description: 'Knows callers by their API key.',
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
          'Seconds for which a key is known without asking the database. A key that changes is forgotten at once all the same.',
      },
    },
    additionalProperties: false,
  },
  async create({ cache_seconds: maxAge }, host) {
    const directory = accountDirectory(host);
    await directory.ready();
    const { prefix } = host.service;
    const keyStart = `${prefix}_`;

    return {
      enter(exchange) {
        if (exchange.endpoint.isPublic) return;
        const key = presentedCredential(exchange.headers, keyStart);
        if (key === undefined || !isApiKey(key, prefix)) throw notValid(host.service);
        const found = directory.findByDigest(digestApiKey(key), maxAge);
        if (found instanceof Promise) return found.then((account) => admit(exchange, account, host.service));
        admit(exchange, found, host.service);
      },
    };
  },
});

function admit(exchange: Exchange, account: AccountRecord | undefined, service: Service): void {
  if (account?.key === undefined) throw notValid(service);
  exchange.set(principal, {
    accountId: account.id,
    keyId: account.key.id,
    keyHint: account.key.hint,
    limits: account.key.limits,
    requestCount: account.requestCount,
  });
}

/** Says the same of a key that is missing, misspelt, unknown, replaced or in the URL: a stranger learns nothing from it. */
function notValid({ name, prefix, baseUrl }: Service): GatewayError {
  return new GatewayError(
    'invalid_api_key',
    `the ${name} API key is missing or not valid; send yours as "Authorization: Bearer ${prefix}_…" or "x-api-key: ${prefix}_…", never in the URL; your key is shown at ${baseUrl}`,
    { headers: { 'www-authenticate': 'Bearer' } },
  );
}
