import { createHmac } from 'node:crypto';
import type { Model } from '#core/config/catalog/catalog.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Row } from '#core/platform/database/rows.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Account } from './entities.ts';

type Queries = Pick<Database, 'query'>;

const secretName = 'end-user-id';
const blockBytes = 64; // of SHA-256; HMAC pads its key to a block

/**
 * Pseudonymous account id, sent upstream as the end user (`end_user: hash`): HMAC-SHA-256 of the account's id, as 64 hexadecimal digits.
 * Reversible only with the secret stored in the database. Vendors' abuse reports name it.
 */
class EndUserIds {
  readonly #database: Queries;
  #secret: Promise<string> | undefined;
  #value: string | undefined;

  constructor(database: Queries) {
    this.#database = database;
  }

  /**
   * The id of the account that calls a model; undefined if no upstream of the model gets it or keeps accounts apart by it.
   *
   * @throws on the first call, if the secret cannot be read
   */
  find(exchange: Exchange, { routes }: Model): string | undefined | Promise<string> {
    if (!routes.some(({ upstream }) => upstream.endUser === 'hash' || upstream.isolatesCache === true))
      return undefined;
    const accountId = exchange.find(principal)?.accountId;
    if (accountId === undefined) return undefined;
    if (this.#value !== undefined) return endUserId(this.#value, accountId);
    return this.#read().then((secret) => endUserId(secret, accountId));
  }

  async #read(): Promise<string> {
    this.#secret ??= readSecret(this.#database, secretName);
    try {
      this.#value = await this.#secret;
      return this.#value;
    } catch (error) {
      this.#secret = undefined;
      throw error;
    }
  }
}

export function endUserIds(host: Host): EndUserIds {
  return host.keep('end-user-ids', () => new EndUserIds(host.database));
}

function endUserId(secret: string, accountId: string): string {
  return createHmac('sha256', secret).update(accountId).digest('hex');
}

export function isEndUserId(text: string): boolean {
  return /^[\da-f]{64}$/i.test(text);
}

/** Returns the account that a vendor knows by this id; undefined if there is none. Reads all accounts. */
export async function accountOfEndUser(database: Queries, id: string): Promise<string | undefined> {
  const secret = Buffer.alloc(blockBytes);
  secret.write(await readSecret(database, secretName), 'utf8');
  const padded = (pad: number) => Buffer.from(secret.map((byte) => byte ^ pad)).toString('hex');
  const [found] = await database.query<Row<typeof Account, 'id'>>(
    `select id from account
     where sha256(decode(?, 'hex') || sha256(decode(?, 'hex') || convert_to(id::text, 'UTF8'))) = decode(?, 'hex')`,
    [padded(0x5c), padded(0x36), id],
  );
  return found?.id;
}
