import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { signInWith, type SignInProfile } from '#core/business/accounts/identities.ts';
import { linkIdentity, listIdentities, unlinkIdentity } from '#core/business/accounts/identity-links.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createStageHost } from './fixture.ts';

let database: Database;
let host: Host & AsyncDisposable;
beforeAll(async () => {
  database = await createTestDatabase();
  host = createStageHost(database);
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function person(change: Partial<SignInProfile> = {}): SignInProfile {
  const subject = randomUUID();
  return {
    provider: 'google',
    subject,
    email: `${subject}@example.com`,
    name: 'Sari',
    avatarUrl: undefined,
    ...change,
  };
}

async function newAccount(profile = person()): Promise<string> {
  const outcome = await signInWith(host, profile);
  if (outcome.refused !== undefined) throw new Error(outcome.refused);
  return outcome.accountId;
}

const countAccounts = async (email: string) => {
  const [row] = await database.query<{ count: number }>('select count(*)::int from account where email = ?', [email]);
  return row?.count;
};

describe('a sign-in', () => {
  it('creates an account, an identity and a key that is not shown yet', async () => {
    const sari = person({ avatarUrl: 'https://example.com/sari.png' });
    const accountId = await newAccount(sari);
    expect(await findAccount(database, accountId)).toMatchObject({
      name: 'Sari',
      email: sari.email,
      key: { isShown: false },
    });
    expect(await listIdentities(database, accountId)).toMatchObject([{ subject: sari.subject, email: sari.email }]);
  });

  it('finds the account of a known identity, whatever its e-mail address is now', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    const again = await signInWith(host, { ...sari, email: 'sari@new.example' });
    expect(again).toEqual({ accountId, isNew: false });
    expect((await findAccount(database, accountId)).email).toBe(sari.email);
    expect(await listIdentities(database, accountId)).toMatchObject([{ email: 'sari@new.example' }]);
  });

  it('makes one account of twenty first sign-ins at the same instant', async () => {
    const sari = person();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => signInWith(host, sari)));
    expect(new Set(outcomes.map((outcome) => ('accountId' in outcome ? outcome.accountId : '')))).toHaveProperty(
      'size',
      1,
    );
    expect(outcomes.filter((outcome) => 'isNew' in outcome && outcome.isNew)).toHaveLength(1);
    expect(await countAccounts(sari.email ?? '')).toBe(1);
  });

  it('refuses an e-mail address that another account has, in any case', async () => {
    const sari = person();
    await newAccount(sari);
    const other = person({ provider: 'github', email: sari.email?.toUpperCase() });
    expect(await signInWith(host, other)).toEqual({ refused: 'email_taken' });
    const [row] = await database.query('select 1 from identity where subject = ?', [other.subject]);
    expect(row).toBeUndefined();
  });

  describe('to an account that the operator has made', () => {
    let accountId: string;
    beforeEach(async () => {
      ({ accountId } = await createAccount(database, 'dp', { name: 'Made by hand', email: person().email }));
    });
    const address = async () => (await findAccount(database, accountId)).email;

    it('lets the verified owner of its e-mail address in', async () => {
      const owner = person({ email: (await address())?.toUpperCase() });
      expect(await signInWith(host, owner)).toEqual({ accountId, isNew: false });
      expect(await signInWith(host, owner)).toEqual({ accountId, isNew: false });
    });

    it('lets one of ten identities in that bring its address at the same instant', async () => {
      const claimed = await address();
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => signInWith(host, person({ email: claimed }))),
      );
      expect(outcomes.filter(({ refused }) => refused === undefined)).toEqual([{ accountId, isNew: false }]);
      expect(outcomes.filter(({ refused }) => refused === 'email_taken')).toHaveLength(9);
    });

    it('does not let a local sign-in in, which verifies nothing', async () => {
      expect(await signInWith(host, person({ provider: 'local', email: await address() }))).toEqual({
        refused: 'email_taken',
      });
    });

    it('is refused while the account is blocked', async () => {
      await database.query('update account set blocked_at = now() where id = ?', [accountId]);
      expect(await signInWith(host, person({ email: await address() }))).toEqual({ refused: 'blocked' });
    });
  });

  it('gives an e-mail address to one of two identities that bring it at the same instant', async () => {
    const { email = '' } = person();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        signInWith(host, person({ provider: index % 2 ? 'google' : 'github', email })),
      ),
    );
    expect(outcomes.filter(({ refused }) => refused === 'email_taken')).toHaveLength(9);
    expect(await countAccounts(email)).toBe(1);
  });

  it('creates separate accounts for identities without a verified e-mail address', async () => {
    const one = await newAccount(person({ email: undefined }));
    expect(await newAccount(person({ email: undefined }))).not.toBe(one);
  });

  it('gives an account without an e-mail address the one that is verified later', async () => {
    const sari = person({ email: undefined });
    const accountId = await newAccount(sari);
    await signInWith(host, { ...sari, email: `${sari.subject}@late.example` });
    expect((await findAccount(database, accountId)).email).toBe(`${sari.subject}@late.example`);
  });

  it('leaves an account without an e-mail address when another account has it by now', async () => {
    const sari = person({ email: undefined });
    const accountId = await newAccount(sari);
    const { email = '' } = person();
    await newAccount(person({ email }));
    expect(await signInWith(host, { ...sari, email: email.toUpperCase() })).toEqual({ accountId, isNew: false });
    expect((await findAccount(database, accountId)).email).toBeUndefined();
  });

  it('refuses a blocked account', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    await database.query('update account set blocked_at = now() where id = ?', [accountId]);
    expect(await signInWith(host, sari)).toEqual({ refused: 'blocked' });
  });

  it('stores names on one line and of bounded length', async () => {
    const accountId = await newAccount(
      person({ name: ` a\0\r\n\u001b[31mb\u2028${'x'.repeat(500)}`, avatarUrl: 'javascript:1' }),
    );
    const { name } = await findAccount(database, accountId);
    expect(name).toMatch(/^a \[31mb x{1,100}$/);
    expect(name).toHaveLength(100);
  });

  it('names a person without a name after the e-mail address', async () => {
    const accountId = await newAccount(person({ name: ' ', email: 'tono@example.com' }));
    expect((await findAccount(database, accountId)).name).toBe('tono');
  });
});

describe('a linked identity', () => {
  it('signs in to the account that it was linked to', async () => {
    const accountId = await newAccount();
    const github = person({ provider: 'github' });
    expect(await linkIdentity(database, accountId, github)).toBe('linked');
    expect(await signInWith(host, github)).toEqual({ accountId, isNew: false });
  });

  it('gives its e-mail address to an account without one', async () => {
    const accountId = await newAccount(person({ email: undefined }));
    const github = person({ provider: 'github' });
    await linkIdentity(database, accountId, github);
    expect((await findAccount(database, accountId)).email).toBe(github.email);
  });

  it('may be linked again by its owner', async () => {
    const github = person({ provider: 'github' });
    const accountId = await newAccount(github);
    expect(await linkIdentity(database, accountId, github)).toBe('linked');
  });

  it('is refused when another account has it', async () => {
    const github = person({ provider: 'github' });
    const owner = await newAccount(github);
    expect(await linkIdentity(database, await newAccount(), github)).toBe('of_other_account');
    expect(await signInWith(host, github)).toEqual({ accountId: owner, isNew: false });
  });

  it('belongs to one account when two link it at the same instant', async () => {
    const accounts = [await newAccount(), await newAccount()];
    const github = person({ provider: 'github' });
    const results = await Promise.all(accounts.map((accountId) => linkIdentity(database, accountId, github)));
    expect(results.toSorted()).toEqual(['linked', 'of_other_account']);
  });
});

describe('an unlinked identity', () => {
  it('makes a new account at its next sign-in', async () => {
    const accountId = await newAccount();
    const github = person({ provider: 'github' });
    await linkIdentity(database, accountId, github);
    expect(await unlinkIdentity(database, accountId, github)).toBe('unlinked');
    expect(await signInWith(host, github)).toMatchObject({ isNew: true });
  });

  it('is never the last one', async () => {
    const sari = person();
    expect(await unlinkIdentity(database, await newAccount(sari), sari)).toBe('is_last');
  });

  it('is never the last one when both are unlinked at the same instant', async () => {
    const [google, github] = [person(), person({ provider: 'github' })];
    const accountId = await newAccount(google);
    await linkIdentity(database, accountId, github);
    const results = await Promise.all([google, github].map((one) => unlinkIdentity(database, accountId, one)));
    expect(results.toSorted()).toEqual(['is_last', 'unlinked']);
  });

  it('is not found in another account', async () => {
    const github = person({ provider: 'github' });
    await newAccount(github);
    expect(await unlinkIdentity(database, await newAccount(), github)).toBe('not_found');
  });
});
