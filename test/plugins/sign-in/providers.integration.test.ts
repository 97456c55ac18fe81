import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { googlePerson, newGitHubUser, pathOf, type SignInGateway, startSignInGateway } from './provider-fixture.ts';

let here: SignInGateway;
beforeAll(async () => {
  here = await startSignInGateway();
});
afterEach(() => {
  here.google.fault = undefined;
  here.github.fault = undefined;
});
afterAll(() => here[Symbol.asyncDispose]());

interface Row {
  readonly account_id: string;
  readonly email: string | null;
  readonly account_email: string | null;
  readonly name: string;
}

const identities = (provider: string, subject: unknown) =>
  here.gateway.database.query<Row>(
    `select i.account_id, i.email, a.email as account_email, a.name
     from identity i join account a on a.id = i.account_id where provider = ? and subject = ?`,
    [provider, String(subject)],
  );

describe('signing in with Google', () => {
  it('creates an account with the verified e-mail address', async () => {
    here.google.person = googlePerson({ name: 'Rani Dewi' });
    const browser = here.browser();
    const reply = await here.signIn(browser, 'google');
    expect([reply.status, reply.location]).toEqual([303, '/account/key']);
    expect((await browser.follow(reply)).text).toContain('Rani Dewi');
    expect(await identities('google', here.google.person['sub'])).toMatchObject([
      { account_email: here.google.person['email'], name: 'Rani Dewi' },
    ]);
  });

  it('asks with a code challenge and comes back to the public URL, whatever the Host header says', async () => {
    const browser = here.browser({ host: 'evil.example' });
    const { location, headers } = await browser.get('/sign-in/google?next=/x');
    const query = new URL(location).searchParams;
    expect(query.get('redirect_uri')).toBe(`${here.gateway.url}/sign-in/google`);
    expect(query.get('code_challenge_method')).toBe('S256');
    expect(query.get('scope')).toBe('openid email profile');
    expect(String(headers['set-cookie'])).toMatch(
      /^dp_sign_in_google=Fe26.*; Max-Age=600; .*HttpOnly; SameSite=Lax; Path=\//,
    );
  });

  it('leads back to where the reader was going', async () => {
    here.google.person = googlePerson();
    expect((await here.signIn(here.browser(), 'google', '/account/sign-ins?x=1')).location).toBe(
      '/account/sign-ins?x=1',
    );
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    `/${'x'.repeat(1_000)}`,
    `/${'x'.repeat(5_000)}`,
  ])('stays on this site with next=%.30s', async (next) => {
    here.google.person = googlePerson();
    expect((await here.signIn(here.browser(), 'google', next)).location).toBe('/account/key');
  });

  it('finds the account again when name and address have changed', async () => {
    here.google.person = googlePerson();
    await here.signIn(here.browser(), 'google');
    const [first] = await identities('google', here.google.person['sub']);
    here.google.person = { ...here.google.person, email: 'new@example.com', name: 'New name' };
    expect((await here.signIn(here.browser(), 'google')).location).toBe('/dashboard');
    expect(await identities('google', here.google.person['sub'])).toMatchObject([{ account_id: first?.account_id }]);
  });

  it.each([[false], [undefined], ['false'], [null]])(
    'does not take an address whose verification is %j',
    async (email_verified) => {
      here.google.person = googlePerson({ email_verified });
      await here.signIn(here.browser(), 'google');
      expect(await identities('google', here.google.person['sub'])).toMatchObject([
        { account_email: null, email: null },
      ]);
    },
  );

  it('makes one account of ten first sign-ins at the same instant', async () => {
    here.google.person = googlePerson();
    const browsers = Array.from({ length: 10 }, () => here.browser());
    const replies = await Promise.all(browsers.map((browser) => here.signIn(browser, 'google')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 303));
    expect(await identities('google', here.google.person['sub'])).toHaveLength(1);
  });

  it('takes a new session: one that was planted before is worth nothing', async () => {
    here.google.person = googlePerson();
    const browser = here.browser();
    await browser.get('/sign-in');
    const planted = browser.cookies.get('dp_session') ?? '';
    await here.signIn(browser, 'google');
    const victim = here.browser();
    victim.cookies.set('dp_session', planted);
    expect((await victim.get('/account/key')).status).toBe(302);
    expect((await browser.get('/account/key')).status).toBe(200);
  });

  it('refuses a blocked account with a page that says so', async () => {
    here.google.person = googlePerson();
    await here.signIn(here.browser(), 'google');
    await here.gateway.database.query('update account set blocked_at = now() where email = ?', [
      here.google.person['email'],
    ]);
    const browser = here.browser();
    const page = await browser.follow(await here.signIn(browser, 'google'));
    expect(page.text).toContain('This account is blocked.');
    expect((await browser.get('/account/key')).status).toBe(302);
  });
});

describe('signing in with GitHub', () => {
  it('knows people by number, and by their primary verified address', async () => {
    const id = newGitHubUser(here.github, 'primary@example.com');
    await here.signIn(here.browser(), 'github');
    expect(await identities('github', id)).toMatchObject([{ account_email: 'primary@example.com', name: `user${id}` }]);
  });

  it.each([
    ['the primary address is not verified', 'unverified@example.com', false],
    ['there is no primary address', null, true],
  ])('creates an account without an address when %s', async (_why, email, isVerified) => {
    const id = newGitHubUser(here.github, email, isVerified);
    await here.signIn(here.browser(), 'github');
    expect(await identities('github', id)).toMatchObject([{ account_email: null }]);
  });

  it('is refused when another account has the address, and merges nothing', async () => {
    here.google.person = googlePerson();
    await here.signIn(here.browser(), 'google');
    const id = newGitHubUser(here.github, String(here.google.person['email']).toUpperCase());
    const browser = here.browser();
    const reply = await here.signIn(browser, 'github', '/account/sign-ins');
    expect(reply.location).toBe('/sign-in?error=email_taken&next=%2Faccount%2Fsign-ins');
    expect((await browser.follow(reply)).text).toContain('Another account has this e-mail address.');
    expect(await identities('github', id)).toEqual([]);
  });
});

describe('a sign-in that does not succeed', () => {
  it('is logged once in ten seconds, with what the provider has said and without secrets, whatever else fails', async () => {
    // Of its own: failures of other tests would keep this one out of the log.
    await using asked = await startSignInGateway();
    asked.github.fault = 'html';
    newGitHubUser(asked.github);
    await asked.signIn(asked.browser(), 'github');
    asked.google.fault = 'token-refused';
    await asked.signIn(asked.browser(), 'google');
    expect(asked.log.join('\n')).toContain(
      'the sign-in with google failed: Failed obtaining google access token: invalid_client',
    );
    expect(asked.log.join('\n')).not.toMatch(/google-secret|Fe26/);
    await asked.signIn(asked.browser(), 'google');
    expect(asked.log.filter((line) => line.includes('the sign-in with google failed'))).toHaveLength(1);
  });

  it.each([
    ['Google: the reader cancels', 'google', 'cancelled', 'cancelled'],
    ['Google: another error', 'google', 'server-error', 'failed'],
    ['Google: the token fails', 'google', 'token-500', 'failed'],
    ['Google: the client secret is wrong', 'google', 'token-refused', 'failed'],
    ['Google: the profile fails', 'google', 'userinfo-500', 'failed'],
    ['Google: the profile is not JSON', 'google', 'userinfo-text', 'failed'],
    ['GitHub: HTML instead of a token', 'github', 'html', 'failed'],
    ['GitHub: the addresses fail', 'github', 'emails-500', 'failed'],
    ['GitHub: a profile without an id', 'github', 'no-id', 'failed'],
    ['GitHub: an answer without an end', 'github', 'endless', 'failed'],
  ] as const)('ends on the sign-in page: %s', async (_what, provider, fault, error) => {
    here.google.person = googlePerson();
    newGitHubUser(here.github);
    Object.assign(here[provider], { fault });
    const browser = here.browser();
    const reply = await here.signIn(browser, provider, '/account/key');
    expect(reply.location).toBe(`/sign-in?error=${error}&next=%2Faccount%2Fkey`);
    const page = await browser.follow(reply);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('role="alert"')]);
    expect(page.text).toContain(`href="${here.gateway.url}/sign-in/google?next=%2Faccount%2Fkey"`);
  });

  it.each([
    ['no cookie', '?code=abc&state=xyz', 'expired'],
    ['an error without a cookie', '?error=access_denied', 'cancelled'],
    ['an unknown error', '?error=%3Cscript%3E&error_description=x', 'failed'],
    ['an error and a code', '?error=temporarily_unavailable&code=abc', 'failed'],
    ['a denial', '?denied=1', 'cancelled'],
    ['a state alone', '?state=xyz', 'failed'],
  ])('does not start another one for a return with %s', async (_what, query, error) => {
    const reply = await here.browser().get(`/sign-in/google${query}`);
    expect([reply.status, reply.location]).toEqual([303, `/sign-in?error=${error}`]);
  });

  it.each([
    ['another state', (url: URL) => url.searchParams.set('state', 'A'.repeat(22)), 'expired'],
    ['no state', (url: URL) => url.searchParams.delete('state'), 'expired'],
    ['a state sent twice', (url: URL) => url.searchParams.append('state', 'B'.repeat(22)), 'expired'],
    ['a code that was made up', (url: URL) => url.searchParams.set('code', 'made-up'), 'failed'],
    ['a code of 5,000 characters', (url: URL) => url.searchParams.set('code', 'x'.repeat(5_000)), 'failed'],
  ])('is refused with %s', async (_what, change, error) => {
    newGitHubUser(here.github);
    const browser = here.browser();
    const started = await browser.get('/sign-in/github');
    const back = new URL((await browser.get(started.location)).location);
    change(back);
    expect((await browser.get(pathOf(back.href))).location).toBe(`/sign-in?error=${error}`);
    expect((await browser.get('/account/key')).status).toBe(302);
  });

  it('is refused when the callback is opened a second time', async () => {
    newGitHubUser(here.github);
    const browser = here.browser();
    const started = await browser.get('/sign-in/github');
    const callback = pathOf((await browser.get(started.location)).location);
    expect((await browser.get(callback)).location).toBe('/account/key');
    const again = await browser.get(callback);
    expect(again.location).toBe('/sign-in?error=expired');
    expect((await browser.follow(again)).url.pathname).toBe('/dashboard');
  });

  it('is refused in another browser than the one that started it', async () => {
    newGitHubUser(here.github);
    const attacker = here.browser();
    const started = await attacker.get('/sign-in/github');
    const callback = pathOf((await attacker.get(started.location)).location);
    const victim = here.browser();
    expect((await victim.get(callback)).location).toBe('/sign-in?error=expired');
    await victim.get('/sign-in/github');
    expect((await victim.get(callback)).location).toBe('/sign-in?error=expired');
  });

  it('names the other tab when two tabs start one', async () => {
    newGitHubUser(here.github);
    const browser = here.browser();
    const first = await browser.get('/sign-in/github');
    await browser.get('/sign-in/github');
    const callback = pathOf((await browser.get(first.location)).location);
    expect((await browser.follow(await browser.get(callback))).text).toContain('another tab has replaced it');
  });

  it('works in spite of malformed cookies', async () => {
    newGitHubUser(here.github);
    const browser = here.browser();
    browser.cookies.set('broken', '"a,b;c"\\');
    browser.cookies.set('dp_sign_in_github', 'Fe26.2**nonsense');
    browser.cookies.set('dp_session', 's%00');
    expect((await here.signIn(browser, 'github')).location).toBe('/account/key');
  });

  it('shows one of the known texts, whatever the address says', async () => {
    const { text } = await here.browser().get('/sign-in?error=%3Cimg%20src%3Dx%3E&next=%22%3E%3Cscript%3E');
    expect(text).not.toContain('role="alert"');
    expect(text).not.toMatch(/<img|"><script/);
  });
});

describe('a provider that hangs', () => {
  it('is given up after ten seconds', { timeout: 40_000 }, async () => {
    here.github.fault = 'hang';
    newGitHubUser(here.github);
    expect((await here.signIn(here.browser(), 'github')).location).toBe('/sign-in?error=failed');
  });
});

describe('an address that starts very many sign-ins', () => {
  it('is asked to wait', async () => {
    // Of its own: the address of every browser here is the same, and would have to wait in other tests as well.
    await using asked = await startSignInGateway();
    const replies = await Promise.all(Array.from({ length: 70 }, () => asked.browser().get('/sign-in/google')));
    expect(replies.some(({ location }) => location === '/sign-in?error=too_many')).toBe(true);
  });
});
