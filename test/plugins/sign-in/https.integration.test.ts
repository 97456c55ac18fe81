import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { googlePerson, pathOf, type SignInGateway, startSignInGateway } from './provider-fixture.ts';

let here: SignInGateway;
beforeAll(async () => {
  here = await startSignInGateway('https://ai.example');
});
afterAll(() => here[Symbol.asyncDispose]());

describe('behind a proxy with HTTPS', () => {
  it('signs in, by cookies that only HTTPS and this host see', async () => {
    here.google.person = googlePerson();
    const browser = here.browser({ host: 'ai.example' });
    const started = await browser.get('/sign-in/google');
    expect(String(started.headers['set-cookie'])).toMatch(
      /^__Host-dp_sign_in_google=.*; Secure; HttpOnly; SameSite=Lax; Path=\/$/,
    );
    expect(new URL(started.location).searchParams.get('redirect_uri')).toBe('https://ai.example/sign-in/google');
    const { location } = await browser.get(started.location);
    const reply = await browser.get(pathOf(location));
    expect(reply.location).toBe('/account/key');
    expect([reply.headers['set-cookie']].flat().join('\n')).toMatch(
      /__Host-dp_session=s.*; Secure; HttpOnly; SameSite=Lax/,
    );
    expect((await browser.get('/account/key')).status).toBe(200);
  });

  it('links to the start at the public URL', async () => {
    expect((await here.browser().get('/sign-in')).text).toContain('href="https://ai.example/sign-in/google"');
  });
});
