import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { lockIdentity, signInWithProfile, type SignInProfile } from '#core/business/accounts/identities.ts';
import { linkIdentity, listIdentities, unlinkIdentity } from '#core/business/accounts/identity-links.ts';
import { changeEmail, moveSignIn, removeSignIn } from '#core/business/accounts/recovery.ts';
import { isOperatorAddress } from '#core/config/sections/operators-section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { createStageHost } from './fixture.ts';

let database: Database;
let host: Host & AsyncDisposable;
beforeAll(async () => {
  database = await createTestDatabase();
  host = Object.assign(createStageHost(database), { section: (() => []) as Host['section'] });
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
  const outcome = await signInWithProfile(host, profile);
  if (outcome.refused !== undefined) throw new Error(outcome.refused);
  return outcome.accountId;
}

/** Runs a call while another account takes an address, so that the call sees the address as free until it writes it. */
async function whileTaken<T>(email: string, call: () => Promise<T>): Promise<T> {
  const { promise: isWaiting, resolve: commit } = Promise.withResolvers<void>();
  const { promise: isInserted, resolve: report } = Promise.withResolvers<void>();
  const other = database.fork().transactional(async (transaction) => {
    await transaction.execute('insert into account (id, name, email) values (?, ?, ?)', [randomUUID(), 'Budi', email]);
    report();
    await isWaiting;
  });
  await isInserted;
  const outcome = call();
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like 'update account%'`;
  await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 5_000).finally(commit);
  await other;
  return outcome;
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

  it('with a known identity succeeds while another account takes its new address', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    const email = `${randomUUID()}@example.com`;
    expect(await whileTaken(email, () => signInWithProfile(host, { ...sari, email }))).toEqual({
      accountId,
      isNew: false,
    });
    expect(await findAccount(database, accountId)).toMatchObject({ email: sari.email });
  });

  it('links an identity while another account takes its address', async () => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Sari' });
    const google = person();
    expect(await whileTaken(google.email ?? '', () => linkIdentity(host, accountId, google))).toBe('linked');
    expect(await findAccount(database, accountId)).toMatchObject({ email: undefined });
  });

  it('finds the account of a known identity, whatever its e-mail address is now', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    const again = await signInWithProfile(host, { ...sari, email: `new-${sari.email}` });
    expect(again).toEqual({ accountId, isNew: false });
    expect(await listIdentities(database, accountId)).toMatchObject([{ email: `new-${sari.email}` }]);
  });

  it('makes one account of twenty first sign-ins at the same instant', async () => {
    const sari = person();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => signInWithProfile(host, sari)));
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
    expect(await signInWithProfile(host, other)).toEqual({ refused: 'email_taken' });
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
      expect(await signInWithProfile(host, owner)).toEqual({ accountId, isNew: false });
      expect(await signInWithProfile(host, owner)).toEqual({ accountId, isNew: false });
    });

    it('refuses the owner of an address whose letters Unicode folds to those of it', async () => {
      const made = await createAccount(database, 'dp', { name: 'Kim', email: `kim-${person().email}` });
      const email = (await findAccount(database, made.accountId)).email?.replace('k', '\u212A');
      expect(await signInWithProfile(host, person({ email }))).toEqual({ refused: 'email_taken' });
      expect(await listIdentities(database, made.accountId)).toEqual([]);
    });

    it('lets one of ten identities in that bring its address at the same instant', async () => {
      const claimed = await address();
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, () => signInWithProfile(host, person({ email: claimed }))),
      );
      expect(outcomes.filter(({ refused }) => refused === undefined)).toEqual([{ accountId, isNew: false }]);
      expect(outcomes.filter(({ refused }) => refused === 'email_taken')).toHaveLength(9);
    });

    it('does not let a local sign-in in, which verifies nothing', async () => {
      expect(await signInWithProfile(host, person({ provider: 'local', email: await address() }))).toEqual({
        refused: 'email_taken',
      });
    });

    it('is refused while the account is blocked', async () => {
      await database.query('update account set blocked_at = now() where id = ?', [accountId]);
      expect(await signInWithProfile(host, person({ email: await address() }))).toEqual({ refused: 'blocked' });
    });
  });

  it('gives an e-mail address to one of two identities that bring it at the same instant', async () => {
    const { email = '' } = person();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        signInWithProfile(host, person({ provider: index % 2 ? 'google' : 'github', email })),
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
    await signInWithProfile(host, { ...sari, email: `${sari.subject}@late.example` });
    expect((await findAccount(database, accountId)).email).toBe(`${sari.subject}@late.example`);
  });

  it('leaves an account without an e-mail address when another account has it by now', async () => {
    const sari = person({ email: undefined });
    const accountId = await newAccount(sari);
    const { email = '' } = person();
    await newAccount(person({ email }));
    expect(await signInWithProfile(host, { ...sari, email: email.toUpperCase() })).toEqual({ accountId, isNew: false });
    expect((await findAccount(database, accountId)).email).toBeUndefined();
  });

  it('refuses a blocked account', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    await database.query('update account set blocked_at = now() where id = ?', [accountId]);
    expect(await signInWithProfile(host, sari)).toEqual({ refused: 'blocked' });
  });

  it('stores names on one line and of bounded length', async () => {
    const accountId = await newAccount(
      person({ name: ` a\0\r\n\u001b[31mb\u2028${'x'.repeat(500)}`, avatarUrl: 'javascript:1' }),
    );
    const { name } = await findAccount(database, accountId);
    expect(name).toMatch(/^a \[31mb x{1,100}$/);
    expect(name).toHaveLength(100);
  });

  it('stores no longer name of an address that is none', async () => {
    const accountId = await newAccount(person({ name: '', email: `${'x'.repeat(99)}\u{1f600}${'x'.repeat(5000)}` }));
    expect((await findAccount(database, accountId)).name).toBe(`${'x'.repeat(99)}\ufffd`);
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
    expect(await linkIdentity(host, accountId, github)).toBe('linked');
    expect(await signInWithProfile(host, github)).toEqual({ accountId, isNew: false });
  });

  it('gives its e-mail address to an account without one', async () => {
    const accountId = await newAccount(person({ email: undefined }));
    const github = person({ provider: 'github' });
    await linkIdentity(host, accountId, github);
    expect((await findAccount(database, accountId)).email).toBe(github.email);
  });

  it('may be linked again by its owner', async () => {
    const github = person({ provider: 'github' });
    const accountId = await newAccount(github);
    expect(await linkIdentity(host, accountId, github)).toBe('linked');
  });

  it('is refused when another account has it', async () => {
    const github = person({ provider: 'github' });
    const owner = await newAccount(github);
    expect(await linkIdentity(host, await newAccount(), github)).toBe('linked_elsewhere');
    expect(await signInWithProfile(host, github)).toEqual({ accountId: owner, isNew: false });
  });

  it('belongs to one account when two link it at the same instant', async () => {
    const accounts = [await newAccount(), await newAccount()];
    const github = person({ provider: 'github' });
    const results = await Promise.all(accounts.map((accountId) => linkIdentity(host, accountId, github)));
    expect(results.toSorted()).toEqual(['linked', 'linked_elsewhere']);
  });
});

describe('an unlinked identity', () => {
  it('makes a new account at its next sign-in', async () => {
    const accountId = await newAccount();
    const github = person({ provider: 'github' });
    await linkIdentity(host, accountId, github);
    expect(await unlinkIdentity(database, accountId, github)).toBe('unlinked');
    expect(await signInWithProfile(host, github)).toMatchObject({ isNew: true });
  });

  it('is never the last one', async () => {
    const sari = person();
    expect(await unlinkIdentity(database, await newAccount(sari), sari)).toBe('is_last');
  });

  it('is never the last one when both are unlinked at the same instant', async () => {
    const [google, github] = [person(), person({ provider: 'github' })];
    const accountId = await newAccount(google);
    await linkIdentity(host, accountId, github);
    const results = await Promise.all([google, github].map((one) => unlinkIdentity(database, accountId, one)));
    expect(results.toSorted()).toEqual(['is_last', 'unlinked']);
  });

  it('is not found in another account', async () => {
    const github = person({ provider: 'github' });
    await newAccount(github);
    expect(await unlinkIdentity(database, await newAccount(), github)).toBe('not_linked');
  });
});

const eventsOf = async (accountId: string) => {
  const rows = await database.query<{ name: string }>(
    `select name from account_event where payload ->> 'accountId' = ? and name = 'account.email_changed'`,
    [accountId],
  );
  return rows.length;
};
const addressOf = async (accountId: string) => {
  const [row] = await database.query<{ email: string | null; former_email: string | null }>(
    'select email, former_email from account where id = ?',
    [accountId],
  );
  return [row?.email, row?.former_email];
};

describe('the address of an account', () => {
  it('follows the identity that it came from, with a mail to the former one', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    const email = `new-${sari.email}`;
    await signInWithProfile(host, { ...sari, email });
    await signInWithProfile(host, { ...sari, email });
    expect([await addressOf(accountId), await eventsOf(accountId)]).toEqual([[email, sari.email], 1]);
  });

  it('does not follow another identity', async () => {
    const sari = person();
    const github = person({ provider: 'github' });
    const accountId = await newAccount(sari);
    await linkIdentity(host, accountId, github);
    await signInWithProfile(host, { ...github, email: `new-${github.email}` });
    expect([await addressOf(accountId), await eventsOf(accountId)]).toEqual([[sari.email, null], 0]);
  });

  it.each([
    ['of another account', () => person()],
    ['of an operator', () => ({ ...person(), email: 'Boss@Example.com' })],
    ['that is not verified', () => ({ ...person(), email: undefined })],
  ])('does not become one %s', async (_name, other) => {
    const taken = other();
    if (taken.email !== undefined && taken.email !== 'Boss@Example.com') await newAccount(taken);
    const sari = person();
    const accountId = await newAccount(sari);
    await signInWithProfile(withOperator(), { ...sari, email: taken.email });
    expect(await addressOf(accountId)).toEqual([sari.email, null]);
  });
});

/** A host whose operator is boss@example.com. */
function withOperator(): Host {
  return {
    ...host,
    section: ((section: { name: string }) =>
      section.name === 'operators' ? ['boss@example.com', 'kim@example.com'] : []) as Host['section'],
  };
}

describe('an operator address', () => {
  it.each([
    ['boss@example.com', true],
    ['BOSS@Example.com', true],
    ['\u212Aim@example.com', false],
    ['kim@example.com', true],
    [undefined, false],
  ])('%s: %s', (address, expected) => {
    expect(isOperatorAddress(withOperator(), address)).toBe(expected);
  });

  it('is given to no account that has none', async () => {
    const github = person({ provider: 'github', email: undefined });
    const accountId = await newAccount(github);
    await signInWithProfile(withOperator(), { ...github, email: 'boss@example.com' });
    expect(await addressOf(accountId)).toEqual([null, null]);
  });
});

describe('recovery', () => {
  it('changes an address, and mails the former one about it', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    await changeEmail(host, accountId, `other-${sari.email}`);
    expect([await addressOf(accountId), await eventsOf(accountId)]).toEqual([[`other-${sari.email}`, sari.email], 1]);
  });

  it('gives no account the address of an operator or of another account', async () => {
    const other = person();
    await newAccount(other);
    const accountId = await newAccount();
    await expect(changeEmail(withOperator(), accountId, 'BOSS@example.com')).rejects.toMatchObject({
      kind: 'operator_address',
    });
    await expect(changeEmail(host, accountId, String(other.email).toUpperCase())).rejects.toMatchObject({
      kind: 'email_taken',
    });
  });

  it('moves a sign-in to another account, and ends the sessions of both', async () => {
    const sari = person();
    const [from, to] = [await newAccount(sari), await newAccount()];
    const sessions = new Sessions(database);
    for (const id of [from, to]) await sessions.create(id, 'Firefox');
    await moveSignIn(host, from, 'google', to);
    expect(await signInWithProfile(host, sari)).toEqual({ accountId: to, isNew: false });
    expect([await sessions.list(from), await sessions.list(to)]).toEqual([[], []]);
    await expect(moveSignIn(host, from, 'google', to)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it.each([
    ['removed', (from: string) => removeSignIn(host, from, 'google')],
    ['moved', async (from: string) => moveSignIn(host, from, 'google', await newAccount())],
  ])('opens no session for a sign-in that is %s before its session begins', async (_name, change) => {
    const sari = person();
    const accountId = await newAccount(sari);
    const sessions = new Sessions(database);
    await sessions.create(accountId, 'Firefox', undefined, sari);
    await change(accountId);
    await expect(sessions.create(accountId, 'Firefox', undefined, sari)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await sessions.list(accountId)).toEqual([]);
  });

  it.each([
    ['removal', (from: string) => removeSignIn(host, from, 'google')],
    ['move', async (from: string, to: string) => moveSignIn(host, from, 'google', to)],
    ['unlinking', (from: string, _to: string, sari: SignInProfile) => unlinkIdentity(database, from, sari)],
  ])('has a %s wait for a sign-in that uses the identity', async (_name, change) => {
    const sari = person();
    const [from, to] = [await newAccount(sari), await newAccount()];
    let changing: Promise<unknown> | undefined;
    await database.fork().transactional(async (transaction) => {
      await lockIdentity(transaction, sari);
      changing = change(from, to, sari);
      await vi.waitFor(async () => {
        expect(await database.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).toHaveLength(
          1,
        );
      }, 5_000);
    });
    await changing;
  });

  it.each([String, (id: string) => id.toUpperCase()])('moves no sign-in to its own account', async (spell) => {
    const accountId = await newAccount();
    await expect(moveSignIn(host, accountId, 'google', spell(accountId))).rejects.toMatchObject({
      kind: 'same_account',
    });
  });

  it('moves a sign-in between accounts whose ids are in upper case', async () => {
    const sari = person();
    const [from, to] = [await newAccount(sari), await newAccount()];
    await moveSignIn(host, from.toUpperCase(), 'google', to.toUpperCase());
    expect(await signInWithProfile(host, sari)).toEqual({ accountId: to, isNew: false });
  });

  it('moves no sign-in to an operator', async () => {
    const accountId = await newAccount();
    const operator = await newAccount({ ...person(), email: 'boss@example.com' });
    await expect(moveSignIn(withOperator(), accountId, 'google', operator)).rejects.toMatchObject({
      kind: 'operator_address',
    });
  });

  it('removes the last sign-in, so that the owner of the same verified address at another provider is let in', async () => {
    const sari = person();
    const accountId = await newAccount(sari);
    const github = { ...person({ provider: 'github' }), email: sari.email };
    expect(await signInWithProfile(host, github)).toEqual({ refused: 'email_taken' });
    await removeSignIn(host, accountId, 'google');
    expect(await signInWithProfile(host, github)).toEqual({ accountId, isNew: false });
  });
});
