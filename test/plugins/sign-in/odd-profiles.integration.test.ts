import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { googlePerson, newGitHubUser, type SignInGateway, startSignInGateway } from './provider-fixture.ts';

let here: SignInGateway;
beforeAll(async () => {
  here = await startSignInGateway();
  // One address may begin 60 sign-ins a minute.
  vi.spyOn(here.gateway.gateway.host.shared.limiter, 'take').mockResolvedValue({ refusedBy: undefined } as never);
});
afterAll(() => here[Symbol.asyncDispose]());

const odd: readonly (readonly [string, unknown])[] = [
  ['a number', 7],
  ['a fraction', 1.5],
  ['true', true],
  ['null', null],
  ['an object', { replace: 'x', length: 3 }],
  ['a list', ['Rani', null]],
  ['nothing', ''],
  ['blanks', ' \t\r\n\u2028'],
  ['NUL', 'Ra\0ni'],
  ['control characters', 'Ra\u0007ni\u001b[31m\u009f'],
  ['half a surrogate pair', `Rani\ud800`],
  ['the other half', `\udfffRani`],
  ['a pair that a limit cuts', `${'x'.repeat(99)}😀`],
  ['80 KB', 'x'.repeat(80_000)],
  ['markup', '<script>alert(1)</script>'],
];

const signedIn = ['/account/key', '/dashboard'];
const refused = '/sign-in?error=failed';

/** Where the return from a provider leads. */
async function returnFrom(provider: 'google' | 'github'): Promise<string> {
  const { status, location } = await here.signIn(here.browser(), provider);
  expect(status).toBe(303);
  return location;
}

describe('a profile with an odd member', () => {
  it.each(odd)('that is %s for a name or an avatar leads to a sign-in', async (_what, value) => {
    here.google.person = googlePerson({ name: value, picture: value });
    expect(signedIn).toContain(await returnFrom('google'));
    newGitHubUser(here.github, `${randomUUID()}@example.com`);
    Object.assign(here.github.user, { name: value, login: value, avatar_url: value });
    expect(signedIn).toContain(await returnFrom('github'));
  });

  it.each(odd)('that is %s for an address leads to a sign-in without one', async (_what, value) => {
    for (const email of [value, `${randomUUID()}@exa${String(value)}mple.com`]) {
      here.google.person = googlePerson({ email });
      expect(signedIn).toContain(await returnFrom('google'));
    }
    newGitHubUser(here.github);
    Object.assign(here.github, { emails: [null, value, { email: value, primary: true, verified: true }] });
    expect(signedIn).toContain(await returnFrom('github'));
  });

  it.each(odd)('that is %s for an id leads to a sign-in or back to the sign-in page', async (_what, value) => {
    here.google.person = googlePerson({ sub: value });
    expect([...signedIn, refused]).toContain(await returnFrom('google'));
    newGitHubUser(here.github);
    Object.assign(here.github.user, { id: value });
    expect([...signedIn, refused]).toContain(await returnFrom('github'));
  });

  it('does not sign anyone in by an id that the database would store as another one', async () => {
    for (const sub of ['a\0b', 'a\ud800', 'a\udfff', 'a\nb', 'x'.repeat(256)]) {
      here.google.person = googlePerson({ sub });
      expect(await returnFrom('google')).toBe(refused);
    }
  });

  it('keeps what is usable', async () => {
    const email = `${randomUUID()}@example.com`;
    here.google.person = googlePerson({ name: ['Rani'], email, picture: { url: 'https://x.example' } });
    expect(await returnFrom('google')).toBe('/account/key');
    const [account] = await here.gateway.database.query('select name, avatar_url from account where email = ?', [
      email,
    ]);
    expect(account).toEqual({ name: email.split('@')[0], avatar_url: null });
  });
});

describe('an answer that is no profile', () => {
  it.each(odd)('but %s leads back to the sign-in page', async (_what, value) => {
    Object.assign(here.google, { person: value });
    expect(await returnFrom('google')).toBe(refused);
    Object.assign(here.github, { user: value });
    expect(await returnFrom('github')).toBe(refused);
  });
});
