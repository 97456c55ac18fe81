import type { CustomProtocol2 } from '@hapi/bell';
import type { ProviderSettings } from '../section.ts';
import { fetchProfile } from './fetch-profile.ts';
import { type Members, toMembers, type ProviderProfile } from './profile.ts';

interface OpenIdProvider {
  readonly authorize: string;
  readonly token: string;
  readonly profile: string; // URL of the user's claims
  readonly pkce?: 'S256';
  readId?(claims: Members): unknown; // the person's id, if it is not `sub`
}

/**
 * Google (https://developers.google.com/identity/openid-connect/openid-connect), and providers for which bell 13.2.0 calls discontinued
 * APIs: LinkedIn's lite profile, ended in 2023
 * (https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2), Slack's classic apps
 * (https://docs.slack.dev/authentication/sign-in-with-slack), and Yahoo's Social Directory, ended in 2020
 * (https://developer.yahoo.com/sign-in-with-yahoo).
 */
const openIdProviders: Readonly<Record<string, OpenIdProvider>> = {
  google: {
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    token: 'https://oauth2.googleapis.com/token',
    profile: 'https://openidconnect.googleapis.com/v1/userinfo',
    pkce: 'S256',
  },
  linkedin: {
    authorize: 'https://www.linkedin.com/oauth/v2/authorization',
    token: 'https://www.linkedin.com/oauth/v2/accessToken',
    profile: 'https://api.linkedin.com/v2/userinfo',
  },
  slack: {
    authorize: 'https://slack.com/openid/connect/authorize',
    token: 'https://slack.com/api/openid.connect.token',
    profile: 'https://slack.com/api/openid.connect.userInfo',
    // A user id is unique only within its workspace.
    readId(claims) {
      const [team, user] = [claims['https://slack.com/team_id'], claims['https://slack.com/user_id']];
      return typeof team === 'string' && typeof user === 'string' ? `${team}/${user}` : undefined;
    },
  },
  yahoo: {
    authorize: 'https://api.login.yahoo.com/oauth2/request_auth',
    token: 'https://api.login.yahoo.com/oauth2/get_token',
    profile: 'https://api.login.yahoo.com/openid/v1/userinfo',
  },
};

/** People are identified by `sub`, because addresses can change owners. */
export function buildOpenId(name: string, settings: ProviderSettings): CustomProtocol2 | undefined {
  if (!Object.hasOwn(openIdProviders, name)) return undefined;
  const { endpoints = {} } = settings;
  const { authorize, token, profile, pkce, readId: idOf = readSubject } = openIdProviders[name] as OpenIdProvider;
  // Google always says whether an address is verified.
  const isTrusted = settings.trust_email && name !== 'google';
  return {
    name,
    protocol: 'oauth2',
    useParamsAuth: true,
    ...(pkce !== undefined && { pkce }),
    auth: endpoints.authorize ?? authorize,
    token: endpoints.token ?? token,
    scope: ['openid', 'email', 'profile'],
    async profile(credentials) {
      const claims = toMembers(await fetchProfile(endpoints.profile ?? profile, credentials.token));
      // Slack reports errors with status 200.
      if (typeof claims['error'] === 'string') throw new Error(`${name} answered "${claims['error']}"`);
      credentials.profile = {
        id: idOf(claims),
        email: claims['email'],
        isEmailVerified: isTrusted || claims['email_verified'] === true || claims['email_verified'] === 'true',
        name: claims['name'],
        avatarUrl: claims['picture'],
      } satisfies ProviderProfile;
    },
  };
}

function readSubject(claims: Members): unknown {
  return claims['sub'];
}
