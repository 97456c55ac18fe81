import type { AccountRecord, KeyRecord } from '#core/business/accounts/account-record.ts';
import { digestApiKey } from '#core/business/accounts/api-key.ts';
import { getAccountDirectory } from '#core/business/accounts/directory.ts';
import { ReplacedKeys } from '#core/business/accounts/replaced-keys.ts';
import { principal, unauthenticated } from '#core/gateway/facts.ts';
import { formatContact } from '#core/gateway/host/contact.ts';
import type { Service } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { dialectNames, dialects } from '#core/platform/errors/dialects.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { integer, object } from '#core/platform/schema.ts';
import { whenSettled } from '#core/platform/timing/when-settled.ts';
import { formatSetupCommand, guessSetupShell } from '#core/web/pages/setup-command.ts';
import { findAccount, readPresentedToken, readPresentedKeys } from './credentials.ts';
import { getFailedAuthentications } from './failures.ts';
import { createTokenHolderFinder } from './token-holder.ts';

const keyPath = '/account/key';

const playgroundHint = 'playground';

/**
 * Authenticates the caller by API key, before the body is read. One valid key is enough. If the keys belong to several accounts, the first
 * one counts (see `readPresentedKeys`).
 *
 * Without a key, a page's access token authenticates the signed-in account (core/business/accounts/access-token.ts). Its requests are
 * recorded with the hint `playground`.
 *
 * Addresses with many failures are rejected until their limit recovers. Valid keys still pass, but a key that is not cached waits a quarter
 * of a second, so that all lookups for such addresses share a query.
 *
 * @throws GatewayError `invalid_api_key`, with the same message for every invalid key except a replaced one, whose message says so;
 *   `rate_limited` after many failures of an address; `account_blocked`; `unavailable` if the database does not respond and the key is not
 *   cached
 */
export const authStage = defineStage({
  name: 'auth',
  description: 'Identifies callers by their API key.',
  writes: [principal, unauthenticated],
  options: object({
    cache_seconds: integer(
      { minimum: 0, maximum: 3600, default: 60 },
      'Seconds after which a cached key is read again. Calls use the cached key during the read. 0: each call waits for the database. A rotated key is rejected immediately, regardless of this value.',
    ),
    failures: object(
      { default: {} },
      'Failed authentications from one address (IPv6: one /64 network) after which further ones get 429. Valid keys are not affected.',
      {
        limit: integer({ minimum: 1, maximum: 100_000, default: 60 }, 'Failures per period.'),
        period: integer({ minimum: 1, maximum: 86_400, default: 60 }, 'Seconds.'),
      },
    ),
  }),
  documentation: (_options, { service }) => ({
    headers: [
      {
        name: 'Authorization',
        in: 'request',
        isCredential: true,
        text: 'auth.docs.key',
        example: `Bearer ${service.prefix}-…`,
      },
      ...dialectNames.flatMap((dialect) => {
        const { keyHeader: name } = dialects[dialect];
        const text = `auth.docs.${dialect}_key`;
        return name === undefined
          ? []
          : [{ name, in: 'request' as const, isCredential: true, text, example: `${service.prefix}-…`, dialect }];
      }),
    ],
  }),
  async create({ cache_seconds: maxAge, failures: limits }, host) {
    const directory = getAccountDirectory(host);
    await directory.ready();
    const { prefix } = host.service;
    const failures = getFailedAuthentications(host);
    const replacedKeys = host.keep('former-keys', () => new ReplacedKeys(host.database));
    const findTokenHolder = createTokenHolderFinder(host, directory, maxAge);

    const admitOrRefuse = (
      exchange: Exchange,
      account: AccountRecord | undefined,
      keys: readonly string[],
      hint?: string,
    ): void | Promise<never> => {
      if (account?.blockedAt !== undefined) throw createBlockedError(host.service, account.blockedAt, account.pausedAt);
      if (account?.key !== undefined) return admitCaller(exchange, account, account.key, hint);
      const waitSeconds = failures.getWaitSeconds(exchange.remoteAddress, limits);
      if (waitSeconds > 0) {
        exchange.set(unauthenticated, true);
        throw createTooManyFailuresError(waitSeconds);
      }
      failures.countFailure(exchange.remoteAddress, limits);
      const setup = formatSetupCommand(guessSetupShell(exchange.headers['user-agent'] ?? ''), host.service.baseUrl);
      const refuse = () => {
        exchange.set(unauthenticated, true);
        throw createInvalidKeyError(host.service, setup);
      };
      if (keys.length === 0) return refuse();
      return replacedKeys.findReplacementTime(keys.map(digestApiKey)).then((date) => {
        throw date === undefined ? refuse() : createReplacedKeyError(host.service, setup, date);
      });
    };

    const findByKeys = (exchange: Exchange, keys: readonly string[]) =>
      findAccount(directory, keys, maxAge, () => failures.getWaitSeconds(exchange.remoteAddress, limits) > 0);

    const findCaller = (exchange: Exchange) => {
      const keys = readPresentedKeys(exchange.headers, prefix);
      const token = keys.length === 0 ? readPresentedToken(exchange.headers, prefix) : undefined;
      if (token !== undefined) return { found: findTokenHolder(token), keys, hint: playgroundHint };
      return { found: findByKeys(exchange, keys), keys, hint: undefined };
    };

    /** A failed lookup counts as no valid key. */
    const markUnauthenticated = async (exchange: Exchange): Promise<void> => {
      const keys = readPresentedKeys(exchange.headers, prefix);
      const lookup = keys.length === 0 ? undefined : findByKeys(exchange, keys);
      const account = await Promise.resolve(lookup).catch(() => 'unknown' as const);
      if (account !== undefined && account !== 'unknown') return;
      exchange.set(unauthenticated, true);
      if (keys.length > 0 && account === undefined) failures.countFailure(exchange.remoteAddress, limits);
    };

    return {
      accountOf(exchange) {
        if (exchange.endpoint.isPublic) return undefined;
        return whenSettled(findCaller(exchange).found, (account) => account?.id);
      },
      start(exchange) {
        // `enter` does not run for a disconnected client. Only cached keys are checked, so that clients that reset connections cause no
        // queries.
        if (!exchange.isClientGone) return;
        const keys = readPresentedKeys(exchange.headers, prefix);
        if (!keys.some((key) => directory.hasCachedKey(digestApiKey(key)))) exchange.set(unauthenticated, true);
      },
      enter(exchange) {
        if (exchange.endpoint.isPublic) return markUnauthenticated(exchange);
        const { found, keys, hint } = findCaller(exchange);
        if (found instanceof Promise)
          return found.then(
            (account) => admitOrRefuse(exchange, account, keys, hint),
            (error: unknown) => {
              // Without this mark, requests with invented keys would queue records while the database is down.
              if (keys.length > 0) exchange.set(unauthenticated, true);
              throw error;
            },
          );
        return admitOrRefuse(exchange, found, keys, hint);
      },
    };
  },
});

function admitCaller(exchange: Exchange, account: AccountRecord, key: KeyRecord, hint: string = key.hint): void {
  exchange.memory.owner = account.id;
  exchange.set(principal, {
    accountId: account.id,
    keyId: key.id,
    keyHint: hint,
    limits: key.limits,
    requestCount: account.requestCount,
  });
}

/** Creates the same error whether the key is missing, misspelt, unknown or in the URL, so that it reveals nothing. */
function createInvalidKeyError({ name, prefix, baseUrl }: Service, setup: string): GatewayError {
  return createKeyError(
    `The ${name} API key is missing or invalid. Send yours as "Authorization: Bearer ${prefix}-…", never in the URL. Get it at ${baseUrl}${keyPath}, or set up your tools with: ${setup}`,
  );
}

function createReplacedKeyError({ name, baseUrl }: Service, setup: string, date: Date): GatewayError {
  return createKeyError(
    `This ${name} API key was replaced on ${formatUtcDay(date)}. Use the new one, or create another at ${baseUrl}${keyPath}, then run: ${setup}`,
  );
}

function createKeyError(message: string): GatewayError {
  return new GatewayError('invalid_api_key', message, { headers: { 'www-authenticate': 'Bearer' } });
}

function createBlockedError(service: Service, date: Date, pausedAt: Date | undefined): GatewayError {
  const { name, baseUrl } = service;
  if (pausedAt !== undefined)
    return new GatewayError(
      'account_blocked',
      `This ${name} account has been paused by its owner since ${formatUtcDay(pausedAt)}, who can resume it at ${baseUrl}/account`,
    );
  const message = `This ${name} account has been blocked since ${formatUtcDay(date)}. Contact ${formatContact(service) ?? 'support'}; see ${baseUrl}`;
  return new GatewayError('account_blocked', message);
}

function formatUtcDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function createTooManyFailuresError(waitSeconds: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    'Too many requests without a valid API key from your address. Check the key.',
    {
      retryAfter: waitSeconds,
    },
  );
}
