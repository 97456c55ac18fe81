import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  accessTokenLifetimeMs,
  AccessTokens,
  isAccessToken,
  readAccessToken,
  signAccessToken,
} from '#core/business/accounts/access-token.ts';
import { redactKeys } from '#core/gateway/records/columns.ts';

const secret = randomBytes(32).toString('base64url');
const claims = { accountId: randomUUID(), sessionId: randomUUID() };
const now = Date.UTC(2026, 10, 22);
const token = signAccessToken(secret, 'dp', claims, now);
const read = (text: string, at = now, prefix = 'dp') => readAccessToken(secret, prefix, text, at);

/** A database with a secret, whose first reads fail. */
const databaseOf = (failures: number) => {
  let reads = 0;
  const query = async () => {
    if (++reads <= failures) throw new Error('down');
    return [{ value: secret }];
  };
  return { query: query as never, reads: () => reads };
};

describe('the secret of access tokens', () => {
  it('is read again after a read that has failed', async () => {
    const tokens = new AccessTokens(databaseOf(1), () => now);
    await expect(tokens.read('dp', token)).rejects.toThrow('down');
    expect(await tokens.read('dp', token)).toEqual(claims);
  });

  it('is read once for many tokens', async () => {
    const database = databaseOf(0);
    const tokens = new AccessTokens(database, () => now);
    await tokens.sign('dp', claims);
    const reads = database.reads();
    await Promise.all([tokens.read('dp', token), tokens.sign('dp', claims)]);
    expect(database.reads()).toBe(reads);
  });
});

describe('an access token', () => {
  it('names its account and session until ten minutes have passed', () => {
    expect(read(token)).toEqual(claims);
    expect(read(token, now + accessTokenLifetimeMs - 1)).toEqual(claims);
    expect(read(token, now + accessTokenLifetimeMs)).toBeUndefined();
  });

  it('is accepted by an instance whose clock is a minute behind, and not two', () => {
    expect(read(token, now - 60_000)).toEqual(claims);
    expect(read(token, now - 120_000)).toBeUndefined();
  });

  it('is refused when any of its digits is another', () => {
    const from = 'dp-at-'.length;
    const accepted = Array.from(token.slice(from), (digit, index) => {
      const other = digit === '0' ? '1' : '0';
      return token.slice(0, from + index) + other + token.slice(from + index + 1);
    }).filter((text) => read(text) !== undefined);
    expect(accepted).toEqual([]);
  });

  it('is refused when another secret has signed it', () => {
    expect(read(signAccessToken(randomBytes(32).toString('base64url'), 'dp', claims, now))).toBeUndefined();
  });

  it.each([
    ['nothing', ''],
    ['its prefix alone', 'dp-at-'],
    ['another prefix', token.replace('dp', 'xy')],
    ['more digits', `${token}00`],
    ['fewer digits', token.slice(0, -2)],
    ['no digits', token.slice(0, -1) + 'g'],
    ['capitals', token.toUpperCase()],
  ])('is refused as %s', (_name, text) => {
    expect(isAccessToken(text, 'dp')).toBe(false);
    expect(read(text)).toBeUndefined();
  });

  it('is truncated wherever keys are redacted', () => {
    expect(redactKeys(`failed with ${token} at 3`)).toMatch(/^failed with dp-at-\w{3}… at 3$/);
  });
});
