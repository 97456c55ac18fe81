import { Events, type MutableRedirectUri, type MutableResponse, OAuth2Server } from 'oauth2-mock-server';

/** The part of Google that a sign-in uses, with a real check of PKCE. */
export interface FakeGoogle extends AsyncDisposable {
  readonly endpoints: { readonly authorize: string; readonly token: string; readonly profile: string }; // for `sign_in.google`
  person: Record<string, unknown>; // the response of userinfo; tests may change it
  readonly tokens: () => number; // how many were issued
  fault: GoogleFault | undefined; // makes responses fail until it is set back to undefined
}

export type GoogleFault =
  | 'token-500'
  | 'token-refused'
  | 'userinfo-500'
  | 'userinfo-text'
  | 'cancelled'
  | 'server-error';

export async function startFakeGoogle(): Promise<FakeGoogle> {
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  const { port } = server.address();
  const origin = `http://127.0.0.1:${port}`;
  let tokens = 0;
  const fake: FakeGoogle = {
    endpoints: { authorize: `${origin}/authorize`, token: `${origin}/token`, profile: `${origin}/userinfo` },
    person: { sub: 'google-1' },
    tokens: () => tokens,
    fault: undefined,
    [Symbol.asyncDispose]: () => server.stop(),
  };
  server.service.on(Events.BeforeResponse, (response: MutableResponse) => {
    tokens++;
    if (fake.fault === 'token-500') Object.assign(response, { statusCode: 500, body: { error: 'server_error' } });
    if (fake.fault === 'token-refused') Object.assign(response, { statusCode: 401, body: { error: 'invalid_client' } });
  });
  server.service.on(Events.BeforeUserinfo, (response: MutableResponse) => {
    response.body = fake.person;
    if (fake.fault === 'userinfo-500') Object.assign(response, { statusCode: 500, body: { error: 'internal' } });
    if (fake.fault === 'userinfo-text') Object.assign(response, { body: '' });
  });
  server.service.on(Events.BeforeAuthorizeRedirect, ({ url }: MutableRedirectUri) => {
    if (fake.fault !== 'cancelled' && fake.fault !== 'server-error') return;
    url.searchParams.delete('code');
    url.searchParams.set('error', fake.fault === 'cancelled' ? 'access_denied' : 'server_error');
  });
  return fake;
}
