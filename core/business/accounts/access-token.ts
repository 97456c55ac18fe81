import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';

/*
 * Pages call the API with an access token, because the account's key is not stored. A token is valid for `accessTokenLifetimeMs`, or until
 * its session ends. It consists of `<prefix>-at-`, the hexadecimal ids of account and session, the expiry, and an HMAC-SHA-256 of these.
 * Tokens are not stored: any instance with the same database accepts them.
 *
 * `redactKeys` truncates tokens, because only hexadecimal digits follow the prefix.
 */
interface AccessClaims {
  readonly accountId: string;
  readonly sessionId: string;
}

export const accessTokenLifetimeMs = 10 * 60 * 1_000;

const clockToleranceMs = 60_000; // clock skew between two instances

const secretMaxAgeMs = 60_000; // how long instances still accept tokens signed with a deleted secret

const idBytes = 16;
const timeBytes = 6;
const claimBytes = 2 * idBytes + timeBytes;
const signatureBytes = 32;

/** @param now epoch ms */
export function signAccessToken(secret: string, prefix: string, claims: AccessClaims, now: number): string {
  const body = Buffer.alloc(claimBytes);
  body.write(toHex(claims.accountId), 0, 'hex');
  body.write(toHex(claims.sessionId), idBytes, 'hex');
  body.writeUIntBE(now + accessTokenLifetimeMs, 2 * idBytes, timeBytes);
  return buildTokenStart(prefix) + Buffer.concat([body, computeSignature(secret, body)]).toString('hex');
}

/**
 * Reads the claims of a token. Returns undefined if it was not signed with this secret, has expired, or would be valid for longer than a
 * new token (the clock may have been set back). The caller must check that the session is still active.
 *
 * @param now epoch ms
 */
export function readAccessToken(secret: string, prefix: string, token: string, now: number): AccessClaims | undefined {
  if (!isAccessToken(token, prefix)) return undefined;
  const bytes = Buffer.from(token.slice(buildTokenStart(prefix).length), 'hex');
  const body = bytes.subarray(0, claimBytes);
  if (!timingSafeEqual(bytes.subarray(claimBytes), computeSignature(secret, body))) return undefined;
  const remainingMs = body.readUIntBE(2 * idBytes, timeBytes) - now;
  if (remainingMs <= 0 || remainingMs > accessTokenLifetimeMs + clockToleranceMs) return undefined;
  return { accountId: toId(body.subarray(0, idBytes)), sessionId: toId(body.subarray(idBytes, 2 * idBytes)) };
}

/** Checks only the format, so it needs no secret. */
export function isAccessToken(text: string, prefix: string): boolean {
  const start = buildTokenStart(prefix);
  const length = start.length + 2 * (claimBytes + signatureBytes);
  return text.length === length && text.startsWith(start) && /^[\da-f]+$/.test(text.slice(start.length));
}

/** Signs and reads this service's tokens, with the secret in its database. */
export class AccessTokens {
  readonly #database: Queries;
  readonly #now: () => number; // epoch ms
  #secret: { readonly value: Promise<string>; readonly readAt: number } | undefined;

  constructor(database: Queries, now: () => number) {
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

export function getAccessTokens(host: Host): AccessTokens {
  return host.keep('access-tokens', () => new AccessTokens(host.database, () => host.now()));
}

function buildTokenStart(prefix: string): string {
  return `${prefix}-at-`;
}

function computeSignature(secret: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update('access token').update(body).digest();
}

function toHex(id: string): string {
  return id.replaceAll('-', '');
}

function toId(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
