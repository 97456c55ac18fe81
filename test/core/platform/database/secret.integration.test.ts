import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { readSecret } from '#core/platform/database/secret.ts';
import { createTestDatabase } from '../../../support/database.ts';

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

describe('readSecret', () => {
  it('is the same for all instances that ask at once', async () => {
    const secrets = await Promise.all(Array.from({ length: 10 }, () => readSecret(database, 'one')));
    expect(new Set(secrets).size).toBe(1);
    expect(Buffer.from(secrets[0] ?? '', 'base64url')).toHaveLength(32);
  });

  it('returns another secret for each name', async () => {
    expect(await readSecret(database, 'first')).not.toBe(await readSecret(database, 'second'));
  });
});
