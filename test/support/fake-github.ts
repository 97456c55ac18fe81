import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** GitHub's OAuth routes and its API under one address, like those of an Enterprise Server. */
export interface FakeGitHub extends AsyncDisposable {
  readonly uri: string; // for `sign_in: { github: { config: { uri } } }`
  user: { id: number; login: string; name: string | null; email: string | null };
  emails: { email: string; primary: boolean; verified: boolean }[];
  fault: GitHubFault | undefined;
}

export type GitHubFault = 'hang' | 'html' | 'emails-500' | 'no-id' | 'endless';

const client = { id: 'github-id', secret: 'github-secret' };

interface Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

export async function startFakeGitHub(): Promise<FakeGitHub> {
  const grants = new Map<string, Grant>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake: FakeGitHub = {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    user: { id: 7, login: 'tono', name: null, email: null },
    emails: [],
    fault: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', fake.uri);
    if (url.pathname === '/login/oauth/authorize') return authorize(url.searchParams, response);
    if (fake.fault === 'hang') return;
    if (fake.fault === 'html') return send(response, 200, 'text/html', '<!doctype html><h1>Unicorn</h1>');
    if (fake.fault === 'endless') return sendEndlessly(response);
    if (url.pathname === '/login/oauth/access_token') {
      return exchange(new URLSearchParams(await text(request)), response);
    }
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return sendJson(response, 401, { message: 'Bad credentials' });
    }
    if (request.headers['user-agent'] === undefined) return send(response, 403, 'text/plain', 'no user agent');
    if (url.pathname === '/api/v3/user') {
      return sendJson(response, 200, fake.fault === 'no-id' ? { login: 'x' } : fake.user);
    }
    if (url.pathname === '/api/v3/user/emails') {
      return fake.fault === 'emails-500' ? sendJson(response, 500, {}) : sendJson(response, 200, fake.emails);
    }
    return sendJson(response, 404, { message: 'Not Found' });
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    if (query.get('client_id') !== client.id || query.get('code_challenge_method') !== 'S256') {
      return send(response, 404, 'text/html', 'unknown app');
    }
    const code = randomUUID().replaceAll('-', '').slice(0, 20);
    const redirectUri = query.get('redirect_uri') ?? '';
    grants.set(code, { redirectUri, challenge: query.get('code_challenge') ?? '' });
    const location = new URL(redirectUri);
    location.searchParams.set('code', code);
    location.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: location.href }).end();
  }

  /** The response is form-encoded, as GitHub's is without an `Accept` header, and has status 200 even for errors. */
  function exchange(form: URLSearchParams, response: ServerResponse): void {
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight = grant?.challenge === challenge && grant.redirectUri === form.get('redirect_uri');
    if (form.get('client_secret') !== client.secret)
      return sendForm(response, { error: 'incorrect_client_credentials' });
    if (!isRight) return sendForm(response, { error: 'bad_verification_code' });
    const token = `gho_${randomUUID()}`;
    tokens.add(token);
    return sendForm(response, { access_token: token, scope: 'user:email', token_type: 'bearer' });
  }
  return fake;
}

function sendEndlessly(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const write = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
    response.once('drain', write);
  };
  write();
}

function sendForm(response: ServerResponse, values: Record<string, string>): void {
  send(response, 200, 'application/x-www-form-urlencoded; charset=utf-8', new URLSearchParams(values).toString());
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}
