import type { CustomProtocol2 } from '@hapi/bell';
import type { ProviderSettings } from '../section.ts';
import { fetchProfile } from './fetch-profile.ts';
import { objectFrom, type ProviderProfile } from './profile.ts';

/**
 * Google, by OpenID Connect (https://developers.google.com/identity/openid-connect/openid-connect). `sub` identifies the
 * person: addresses change hands.
 */
export function google({ endpoints = {} }: ProviderSettings): CustomProtocol2 {
  return {
    name: 'google',
    protocol: 'oauth2',
    useParamsAuth: true,
    pkce: 'S256',
    auth: endpoints.authorize ?? 'https://accounts.google.com/o/oauth2/v2/auth',
    token: endpoints.token ?? 'https://oauth2.googleapis.com/token',
    scope: ['openid', 'email', 'profile'],
    async profile(credentials) {
      const uri = endpoints.profile ?? 'https://openidconnect.googleapis.com/v1/userinfo';
      const user = objectFrom(await fetchProfile(uri, credentials.token));
      credentials.profile = {
        id: user['sub'],
        email: user['email'],
        isEmailVerified: user['email_verified'] === true || user['email_verified'] === 'true',
        name: user['name'],
        avatarUrl: user['picture'],
      } satisfies ProviderProfile;
    },
  };
}
