import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** GitLab's OAuth and version 4 of its API, which answers 410 to version 3, as GitLab does since 11.0. */
export interface FakeGitLab extends AsyncDisposable {
  readonly uri: string; // for `sign_in: { gitlab: { config: { uri } } }`
}

/** @param user the response of `GET /api/v4/user` */
export async function startFakeGitLab(user: object): Promise<FakeGitLab> {
  const codes = new Set<string>();
  const tokens = new Set<string>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? '', uri);
    if (url.pathname === '/oauth/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      const code = randomUUID();
      codes.add(code);
      back.searchParams.set('code', code);
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === '/oauth/token') {
      const form = new URLSearchParams(await text(request));
      if (!codes.delete(form.get('code') ?? '')) return send(response, 400, { error: 'invalid_grant' });
      const token = randomUUID();
      tokens.add(token);
      return send(response, 200, { access_token: token, token_type: 'Bearer', expires_in: 7200, scope: 'read_user' });
    }
    if (url.pathname.startsWith('/api/v3/')) return send(response, 410, { error: 'API V3 is no longer supported' });
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (!tokens.has(token)) return send(response, 401, { message: '401 Unauthorized' });
    return url.pathname === '/api/v4/user' ? send(response, 200, user) : send(response, 404, {});
  }

  return {
    uri,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
