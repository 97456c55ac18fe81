import { randomUUID } from 'node:crypto';
import type { Logger } from '#core/platform/logger.ts';
import { type FakeGitHub, startFakeGitHub } from '../../support/fake-github.ts';
import { type FakeGoogle, startFakeGoogle } from '../../support/fake-google.ts';
import { startGateway, type TestGateway, yamlFor } from '../../support/gateway.ts';
import { PageClient, type PageReply } from '../../support/page-client.ts';

/** A gateway with Google and GitHub, both fake. */
export interface SignInGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly google: FakeGoogle;
  readonly github: FakeGitHub;
  /** Lines that the gateway has logged. */
  readonly log: string[];
  browser(headers?: Record<string, string>): PageClient;
  /** Sends a browser through a provider, up to the gateway's answer to the callback. */
  signIn(browser: PageClient, provider: 'google' | 'github', next?: string): Promise<PageReply>;
}

export async function startSignInGateway(baseUrl?: string): Promise<SignInGateway> {
  const [google, github] = await Promise.all([startFakeGoogle(), startFakeGitHub()]);
  const log: string[] = [];
  const yaml = yamlWith(google, github);
  const gateway = await startGateway({ yaml: yaml(baseUrl), log: collectingLog(log) });
  if (baseUrl === undefined) {
    await gateway.write(yaml(gateway.url));
    await gateway.gateway.reload();
  }
  const browser = (headers?: Record<string, string>) => new PageClient(gateway.url, headers);
  return {
    gateway,
    google,
    github,
    log,
    browser,
    async signIn(client, provider, next) {
      const started = await client.get(
        `/sign-in/${provider}${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`,
      );
      const { location } = await client.get(started.location);
      return client.get(pathOf(location));
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await Promise.all([google[Symbol.asyncDispose](), github[Symbol.asyncDispose]()]);
    },
  };
}

function yamlWith({ endpoints }: FakeGoogle, { uri }: FakeGitHub) {
  return (baseUrl = '') => `${yamlFor('http://127.0.0.1:9')}
service: { base_url: "${baseUrl}", unsafe_public_demo: true }
sign_in:
  google:
    client_id: google-id
    client_secret: google-secret
    endpoints: { authorize: "${endpoints.authorize}", token: "${endpoints.token}", profile: "${endpoints.profile}" }
  github: { client_id: github-id, client_secret: github-secret, config: { uri: "${uri}" } }
`;
}

function collectingLog(lines: string[]): Logger {
  const add = (text: string, error?: unknown) =>
    void lines.push(`${text}${error === undefined ? '' : ` ${String(error)}`}`);
  return { info: add, warn: add, error: add };
}

/** The path of a callback, asked at the gateway whatever its public URL is. */
export function pathOf(location: string): string {
  const { pathname, search } = new URL(location);
  return pathname + search;
}

/** A person at Google whom nobody has seen before. */
export function googlePerson(change: Record<string, unknown> = {}): Record<string, unknown> {
  const sub = randomUUID();
  return { sub, email: `${sub}@example.com`, email_verified: true, name: 'Rani', ...change };
}

let lastId = 1_000;

/** Makes the fake GitHub somebody else. @returns the id */
export function newGitHubUser(github: FakeGitHub, email: string | null = null, isVerified = true): number {
  const id = ++lastId;
  github.user = { id, login: `user${id}`, name: null, email: 'public@example.com' };
  github.emails = [{ email: 'old@example.com', primary: false, verified: true }];
  if (email !== null) github.emails.push({ email, primary: true, verified: isVerified });
  return id;
}
