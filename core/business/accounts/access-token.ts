import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import type { Host } from '#core/gateway/host/host.ts';

/**
 * A token that replaces an account's key for ten minutes, or until its session ends, for pages that call the API, since
 * the key itself is not stored. It is `<prefix>-at-` followed by the hexadecimal ids of account and session, the expiry, and an
 * HMAC-SHA-256 of these. Tokens are not stored, so any instance on the database accepts them.
 *
 * Only digits follow the prefix, in the form that `redactKeys` truncates.
 */
interface AccessClaims {
  readonly accountId: string;
  readonly sessionId: string;
}

/** Token lifetime, ms. */
export const accessTokenLifetime = 10 * 60 * 1_000;

const clockToleranceMs = 60_000; // between two instances

/** Then every instance rejects tokens signed with a deleted secret. */
const secretMaxAgeMs = 60_000;

const idBytes = 16;
const timeBytes = 6;
const claimBytes = 2 * idBytes + timeBytes;
const signatureBytes = 32;

/**
 * Signs a token.
 *
 * @param secret of this service
 * @param now epoch ms
 */
export function signAccessToken(secret: string, prefix: string, claims: AccessClaims, now: number): string {
  const body = Buffer.alloc(claimBytes);
  body.write(toHex(claims.accountId), 0, 'hex');
  body.write(toHex(claims.sessionId), idBytes, 'hex');
  body.writeUIntBE(now + accessTokenLifetime, 2 * idBytes, timeBytes);
  return start(prefix) + Buffer.concat([body, signatureOf(secret, body)]).toString('hex');
}

/**
 * Reads the claims of a token; undefined if it was not signed with this secret, has expired, or lasts longer than a token may, as after a
 * clock was set back. The caller checks whether the session is still active.
 *
 * @param now epoch ms
 */
export function readAccessToken(secret: string, prefix: string, token: string, now: number): AccessClaims | undefined {
  if (!isAccessToken(token, prefix)) return undefined;
  const bytes = Buffer.from(token.slice(start(prefix).length), 'hex');
  const body = bytes.subarray(0, claimBytes);
  if (!timingSafeEqual(bytes.subarray(claimBytes), signatureOf(secret, body))) return undefined;
  const left = body.readUIntBE(2 * idBytes, timeBytes) - now;
  if (left <= 0 || left > accessTokenLifetime + clockToleranceMs) return undefined;
  return { accountId: toId(body.subarray(0, idBytes)), sessionId: toId(body.subarray(idBytes, 2 * idBytes)) };
}

/** Returns true if the text has the form of a token. Needs no secret. */
export function isAccessToken(text: string, prefix: string): boolean {
  const before = start(prefix);
  const length = before.length + 2 * (claimBytes + signatureBytes);
  return text.length === length && text.startsWith(before) && /^[\da-f]+$/.test(text.slice(before.length));
}

/** Signs and reads the tokens of this service with the secret in its database. */
export class AccessTokens {
  readonly #database: Pick<Database, 'query'>;
  readonly #now: () => number;
  #secret: { readonly value: Promise<string>; readonly readAt: number } | undefined;

  /** @param now epoch ms */
  constructor(database: Pick<Database, 'query'>, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  async sign(prefix: string, claims: AccessClaims): Promise<string> {
    return signAccessToken(await this.#readSecret(), prefix, claims, this.#now());
  }

  async read(prefix: string, token: string): Promise<AccessClaims | undefined> {
    return readAccessToken(await this.#readSecret(), prefix, token, this.#now());
  }

  #readSecret(): Promise<string> {
    const now = this.#now();
    if (this.#secret !== undefined && Math.abs(now - this.#secret.readAt) < secretMaxAgeMs) return this.#secret.value;
    const secret = { value: readSecret(this.#database, 'access-token'), readAt: now };
    secret.value.catch(() => {
      if (this.#secret === secret) this.#secret = undefined;
    });
    this.#secret = secret;
    return secret.value;
  }
}

export function accessTokens(host: Host): AccessTokens {
  return host.keep('access-tokens', () => new AccessTokens(host.database, () => host.now()));
}

function start(prefix: string): string {
  return `${prefix}-at-`;
}

function signatureOf(secret: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update('access token').update(body).digest();
}

function toHex(id: string): string {
  return id.replaceAll('-', '');
}

function toId(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
