import { createHmac } from 'node:crypto';
import type { Model } from '#core/config/catalog/catalog.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Queries } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import type { Account } from './entities.ts';

const secretName = 'end-user-id';
const blockBytes = 64; // of SHA-256; HMAC pads the secret to one block

/**
 * Computes the pseudonymous account id that is sent upstream as the end user (`end_user: hash`): an HMAC-SHA-256 of the account's id, as 64
 * hexadecimal digits. Vendors quote it in abuse reports. It can be traced back only with the secret in the database.
 */
class EndUserIds {
  readonly #database: Queries;
  #pendingSecret: Promise<string> | undefined;
  #secret: string | undefined;

  constructor(database: Queries) {
    this.#database = database;
  }

  /**
   * Undefined if no upstream of the model receives the id or isolates its cache by it.
   *
   * @throws on the first call, if the secret cannot be read
   */
  computeId(exchange: Exchange, { routes }: Model): string | undefined | Promise<string> {
    if (!routes.some(({ upstream }) => upstream.endUser === 'hash' || upstream.isolatesCache === true))
      return undefined;
    const accountId = exchange.find(principal)?.accountId;
    if (accountId === undefined) return undefined;
    if (this.#secret !== undefined) return hashAccountId(this.#secret, accountId);
    return this.#readSecret().then((secret) => hashAccountId(secret, accountId));
  }

  async #readSecret(): Promise<string> {
    this.#pendingSecret ??= readSecret(this.#database, secretName);
    try {
      this.#secret = await this.#pendingSecret;
      return this.#secret;
    } catch (error) {
      this.#pendingSecret = undefined;
      throw error;
    }
  }
}

export function getEndUserIds(host: Host): EndUserIds {
  return host.keep('end-user-ids', () => new EndUserIds(host.database));
}

function hashAccountId(secret: string, accountId: string): string {
  return createHmac('sha256', secret).update(accountId).digest('hex');
}

export function isEndUserId(text: string): boolean {
  return /^[\da-f]{64}$/i.test(text);
}

/** Finds the account behind an end-user id that a vendor quotes. Scans all accounts and computes each HMAC (RFC 2104) in SQL. */
export async function findAccountByEndUserId(database: Queries, id: string): Promise<string | undefined> {
  const secret = Buffer.alloc(blockBytes);
  secret.write(await readSecret(database, secretName), 'utf8');
  const padSecret = (pad: number) => Buffer.from(secret.map((byte) => byte ^ pad)).toString('hex');
  const [account] = await database.query<Row<typeof Account, 'id'>>(
    `select id from account
     where sha256(decode(?, 'hex') || sha256(decode(?, 'hex') || convert_to(id::text, 'UTF8'))) = decode(?, 'hex')`,
    [padSecret(0x5c), padSecret(0x36), id],
  );
  return account?.id;
}
