import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createFormToken } from '#core/web/sessions/form-token.ts';
import type { PageClient, PageReply } from '../../support/page-client.ts';
import { googlePerson, newGitHubUser, pathOf, type SignInGateway, startSignInGateway } from './provider-fixture.ts';

let here: SignInGateway;
beforeAll(async () => {
  here = await startSignInGateway();
});
afterEach(() => {
  here.google.fault = undefined;
});
afterAll(() => here[Symbol.asyncDispose]());

const page = '/account/sign-ins';

async function newReader(userAgent = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'): Promise<PageClient> {
  here.google.person = googlePerson();
  return signInAgain(userAgent);
}

async function signInAgain(userAgent = 'Mozilla/5.0 (Windows NT 10.0) Firefox/140.0'): Promise<PageClient> {
  const browser = here.browser({ 'user-agent': userAgent });
  await here.signIn(browser, 'google');
  return browser;
}

/** Asks to add GitHub. @returns the path that the page leads to */
async function askToLink(browser: PageClient): Promise<string> {
  const { text } = await browser.submit(page, `${page}/link`, { provider: 'github' });
  const url = /<a class="button primary" href="([^"]+)"/.exec(text)?.[1] ?? '';
  return pathOf(url.replaceAll('&amp;', '&'));
}

async function comeBack(browser: PageClient, path: string): Promise<PageReply> {
  const started = await browser.get(path);
  return browser.get(pathOf((await browser.get(started.location)).location));
}

const accountOf = async (browser: PageClient) => {
  const rows = await here.gateway.database.query<{ account_id: string }>(
    `select account_id from session where token_sha256 = sha256(?::bytea)`,
    [Buffer.from(browser.cookies.get('dp_session') ?? '')],
  );
  return rows[0]?.account_id;
};

function sessionsOn({ text }: PageReply): string[] {
  return [...text.matchAll(/name="session" value="([^"]+)"/g)].map(([, session = '']) => session);
}

describe('adding a sign-in', () => {
  it('lets both open one account', async () => {
    const browser = await newReader();
    newGitHubUser(here.github);
    const reply = await comeBack(browser, await askToLink(browser));
    expect(reply.location).toBe(`${page}?linked`);
    expect((await browser.follow(reply)).text).toContain('The sign-in was added.');
    const other = here.browser();
    expect((await here.signIn(other, 'github')).location).toBe('/dashboard');
    expect(await accountOf(other)).toBe(await accountOf(browser));
  });

  it('is refused when another account has it', async () => {
    newGitHubUser(here.github);
    const owner = here.browser();
    await here.signIn(owner, 'github');
    const account = await accountOf(owner);
    const browser = await newReader();
    const reply = await comeBack(browser, await askToLink(browser));
    expect((await browser.follow(reply)).text).toContain('This sign-in belongs to another account.');
    const again = here.browser();
    await here.signIn(again, 'github');
    expect(await accountOf(again)).toBe(account);
  });

  it.each([
    ['made up', () => 'made.up.token'],
    ['of another reader', async () => new URL(await askToLink(await newReader()), 'http://x').searchParams.get('link')],
  ])('is refused with a token that is %s', async (_what, token) => {
    newGitHubUser(here.github);
    const link = (await token()) ?? '';
    const browser = await newReader();
    const reply = await comeBack(browser, `/sign-in/github?link=${encodeURIComponent(link)}`);
    expect(reply.location).toBe(`${page}?error=expired`);
    expect((await browser.get(page)).text).not.toContain('GitHub</strong>');
  });

  it.each([
    [9, `${page}?linked`],
    [11, `${page}?error=expired`],
  ])('that comes back after %i minutes leads to %s', async (minutes, location) => {
    newGitHubUser(here.github);
    const browser = await newReader();
    const session = browser.cookies.get('dp_session') ?? '';
    const token = createFormToken(session, 'link github', Date.now() - minutes * 60_000);
    const reply = await comeBack(browser, `/sign-in/github?link=${encodeURIComponent(token)}`);
    expect(reply.location).toBe(location);
  });

  it('is asked for by the page of an account with one', async () => {
    const browser = await newReader();
    const ask = 'Add a second sign-in now';
    expect((await browser.get(page)).text).toContain(ask);
    newGitHubUser(here.github);
    await comeBack(browser, await askToLink(browser));
    expect((await browser.get(page)).text).not.toContain(ask);
  });

  it('at the provider that the account has is offered as another account of it', async () => {
    const { text } = await (await newReader()).get(page);
    expect(text).toContain('>Add another Google account</button>');
    expect(text).toContain('>Add GitHub</button>');
  });

  it('is refused with the token of a form for something else', async () => {
    newGitHubUser(here.github);
    const browser = await newReader();
    const { text } = await browser.get(page);
    const token = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const reply = await comeBack(browser, `/sign-in/github?link=${encodeURIComponent(token)}`);
    expect(reply.location).toBe(`${page}?error=expired`);
  });

  it('is refused when the reader has signed out in between', async () => {
    newGitHubUser(here.github);
    const browser = await newReader();
    const path = await askToLink(browser);
    await browser.submit(page, '/sign-out');
    const reply = await comeBack(browser, path);
    expect(reply.location).toBe(`${page}?error=expired`);
    expect((await browser.get(reply.location)).location).toMatch(/^\/sign-in\?next=/);
  });

  it('that is cancelled ends on the same page', async () => {
    const browser = await newReader();
    const { text } = await browser.submit(page, `${page}/link`, { provider: 'google' });
    const url = /<a class="button primary" href="([^"]+)"/.exec(text)?.[1] ?? '';
    here.google.fault = 'cancelled';
    const reply = await comeBack(browser, pathOf(url.replaceAll('&amp;', '&')));
    expect(reply.location).toBe(`${page}?error=cancelled`);
    expect((await browser.follow(reply)).text).toContain('Sign-in was cancelled.');
  });

  it('is asked for by a form of this site only', async () => {
    const browser = await newReader();
    expect((await browser.post(`${page}/link`, { provider: 'github' })).status).toBe(403);
    expect((await browser.get(`${page}/link?provider=github`)).status).toBe(404);
    expect((await browser.submit(page, `${page}/link`, { provider: 'okta' })).status).toBe(404);
  });
});

describe('removing a sign-in', () => {
  it('leaves the account to the other one', async () => {
    const browser = await newReader();
    newGitHubUser(here.github);
    await comeBack(browser, await askToLink(browser));
    const account = await accountOf(browser);
    const reply = await browser.submit(page, `${page}/unlink`, {
      provider: 'google',
      subject: String(here.google.person['sub']),
    });
    expect(reply.location).toBe(`${page}?unlinked`);
    const other = here.browser();
    await here.signIn(other, 'github');
    expect(await accountOf(other)).toBe(account);
  });

  it('is not offered, and refused, for the last one', async () => {
    const browser = await newReader();
    const { text } = await browser.get(page);
    expect(text).not.toContain('/account/sign-ins/unlink');
    const subject = String(here.google.person['sub']);
    const reply = await browser.post(`${page}/unlink`, { provider: 'google', subject });
    expect(reply.status).toBe(403);
  });

  it('of another account is not found', async () => {
    newGitHubUser(here.github);
    const browser = await newReader();
    await comeBack(browser, await askToLink(browser));
    const mine = here.google.person['sub'];
    await newReader();
    const theirs = String(here.google.person['sub']);
    expect(theirs).not.toBe(mine);
    expect((await browser.submit(page, `${page}/unlink`, { provider: 'google', subject: theirs })).status).toBe(404);
  });
});

describe('the list of devices', () => {
  it('names each device and marks this one', async () => {
    const browser = await newReader();
    await signInAgain();
    const { text } = await browser.get(page);
    expect(text).toMatch(/<strong>Firefox, Linux<\/strong> <span class="badge">This device/);
    expect(text).toMatch(/<strong>Firefox, Windows<\/strong>\s*<p/);
  });

  it('escapes what a browser has called itself', async () => {
    const browser = await newReader('<img src=x onerror=alert(1)>');
    expect((await browser.get(page)).text).not.toContain('<img');
  });

  it('signs one of them out', async () => {
    const browser = await newReader();
    const [mine] = sessionsOn(await browser.get(page));
    const other = await signInAgain();
    const theirs = sessionsOn(await browser.get(page)).find((session) => session !== mine) ?? '';
    expect((await browser.submit(page, `${page}/revoke`, { session: theirs })).location).toBe(`${page}?ended`);
    expect((await other.get(page)).status).toBe(302);
    expect((await browser.get(page)).status).toBe(200);
  });

  it('signs this one out, and leads to the sign-in', async () => {
    const browser = await newReader();
    const [mine = ''] = sessionsOn(await browser.get(page));
    expect((await browser.submit(page, `${page}/revoke`, { session: mine })).location).toBe('/sign-in');
    expect((await browser.get(page)).status).toBe(302);
  });

  it('does not sign out devices of others', async () => {
    const other = await newReader();
    const [theirs = ''] = sessionsOn(await other.get(page));
    const browser = await newReader();
    expect((await browser.submit(page, `${page}/revoke`, { session: theirs })).status).toBe(404);
    expect((await other.get(page)).status).toBe(200);
  });

  it('signs out everywhere', async () => {
    const browser = await newReader();
    const others = [await signInAgain(), await signInAgain()];
    expect((await browser.submit(page, `${page}/revoke-all`)).location).toBe('/sign-in');
    expect(browser.cookies.has('dp_session')).toBe(false);
    const statuses = await Promise.all([browser, ...others].map(async (one) => (await one.get(page)).status));
    expect(statuses).toEqual([302, 302, 302]);
  });

  it('is recorded by an event for each sign-in', async () => {
    const browser = await newReader();
    await signInAgain();
    const events = await here.gateway.database.query(
      `select 1 from account_event where name = 'session.created' and payload ->> 'accountId' = ?`,
      [await accountOf(browser)],
    );
    expect(events).toHaveLength(2);
  });
});
