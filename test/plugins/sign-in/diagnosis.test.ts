import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import { createTestHost } from '#core/extension/testing/test-host.ts';
import { plugin } from '../../../plugins/sign-in/index.ts';

/** Of a GitLab and a GitHub of its own. */
const uri = 'https://git.example';
/** What the provider was asked last. */
let asked: Request;
/** What it answers to any code. */
let answer: { readonly status: number; readonly body: string };
beforeEach(() => {
  answer = { status: 400, body: '{"error":"invalid_grant"}' };
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    asked = new Request(url, init);
    return new Response(answer.body, { status: answer.status });
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const callback = 'http://localhost:8080/sign-in/gitlab';
const credentials = { client_id: 'id', client_secret: 'secret' };

/** What `daypass doctor` finds out about providers, by name. */
async function examine(providers: object, baseUrl = 'http://localhost:8080') {
  const registry = new Registry();
  await plugin.register({ gateway: registry } as never, {} as never);
  const host = createTestHost({ sections: { sign_in: providers } });
  const checks = registry.diagnoses.get('sign_in')?.checks({ ...host, service: { ...host.service, baseUrl } }) ?? [];
  return Promise.all(
    [...checks].map(async ({ subject, run }) => ({ subject, ...(await run(AbortSignal.timeout(20_000))) })),
  );
}

/** The same of GitLab, which answers a made-up code like this. */
async function examineGitLab(status: number, body: string) {
  answer = { status, body };
  const [found] = await examine({ gitlab: { ...credentials, config: { uri } } });
  return found;
}

describe('daypass doctor', () => {
  it.each(['invalid_client', 'unauthorized_client', 'incorrect_client_credentials', 'bad_client_secret'])(
    'finds that a provider does not know the app: %s',
    async (error) => {
      expect(await examineGitLab(401, JSON.stringify({ error }))).toEqual({
        subject: 'gitlab',
        state: 'failed',
        text: `the provider does not know this app (${error})`,
        advice: expect.stringContaining('Compare client_id and client_secret'),
      });
    },
  );

  it.each(['redirect_uri_mismatch', 'invalid_redirect_uri', 'bad_redirect_uri'])(
    'finds that the callback address is another one: %s',
    async (error) => {
      expect(await examineGitLab(400, JSON.stringify({ error }))).toMatchObject({
        state: 'failed',
        text: 'the callback address is not registered for the app',
        advice: expect.stringContaining(`Enter exactly ${callback} `),
      });
    },
  );

  it.each([
    [400, '{"error":"invalid_grant"}'],
    [400, '{"error":"invalid_request"}'],
    [200, 'error=bad_verification_code&error_description=x'],
  ])('is content with a provider that refuses nothing but the code: %i %s', async (status, body) => {
    expect(await examineGitLab(status, body)).toMatchObject({
      state: 'ok',
      text: `accepts the app; its callback address must be ${callback}`,
    });
  });

  it('says what else a provider answers, in sixty characters', async () => {
    expect(await examineGitLab(400, JSON.stringify({ error: 'x'.repeat(61) }))).toMatchObject({
      state: 'warning',
      text: `the provider answers "${'x'.repeat(60)}"`,
      advice: expect.stringContaining(callback),
    });
    expect(await examineGitLab(503, '<h1>Maintenance</h1>')).toMatchObject({
      state: 'warning',
      text: 'git.example answers 503 to a made-up code',
      advice: expect.stringContaining(callback),
    });
  });

  it.each([
    ['gitlab', {}, `Basic ${Buffer.from('id:secret').toString('base64')}`],
    ['github', { client_secret: 'secret' }, null],
  ])('sends %s the credentials as it takes them, and to no other address', async (name, secret, authorization) => {
    await examine({ [name]: { ...credentials, config: { uri } } });
    expect([asked.method, new URL(asked.url).origin, asked.redirect]).toEqual(['POST', uri, 'error']);
    expect(asked.headers.get('authorization')).toBe(authorization);
    expect(asked.headers.get('accept')).toBe('application/json');
    expect(Object.fromEntries(new URLSearchParams(await asked.text()))).toEqual({
      grant_type: 'authorization_code',
      code: 'daypass-doctor',
      client_id: 'id',
      redirect_uri: `http://localhost:8080/sign-in/${name}`,
      ...secret,
    });
  });

  it('skips what it cannot ask: OAuth 1, and no provider at all', async () => {
    expect(await examine({ twitter: credentials })).toEqual([
      { subject: 'twitter', state: 'skipped', text: 'callback address http://localhost:8080/sign-in/twitter' },
    ]);
    expect(await examine({})).toEqual([{ state: 'skipped', text: 'no provider is configured' }]);
  });

  it('finds a callback address that providers refuse', async () => {
    expect(await examine({ google: credentials }, 'http://ai.example')).toMatchObject([
      { state: 'failed', text: expect.stringContaining('http://ai.example/sign-in/google is not HTTPS') },
    ]);
  });
});
