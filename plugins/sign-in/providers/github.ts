import type { CustomProtocol2 } from '@hapi/bell';
import type { ProviderSettings } from '../section.ts';
import { fetchProfile } from './fetch-profile.ts';
import { toMembers, type ProviderProfile } from './profile.ts';

/**
 * GitHub, or a GitHub Enterprise Server if `config: { uri }` is set. A profile contains only the public address, which is often missing and
 * never verified. The primary verified address comes from a separate list (https://docs.github.com/en/rest/users/emails).
 */
export function buildGithub({ config = {}, endpoints = {} }: ProviderSettings): CustomProtocol2 {
  const { uri } = config;
  const site = uri ?? 'https://github.com';
  const api = uri === undefined ? 'https://api.github.com' : `${uri}/api/v3`;
  const headers = { accept: 'application/vnd.github+json', 'user-agent': 'daypass' };
  return {
    name: 'github',
    protocol: 'oauth2',
    useParamsAuth: true,
    pkce: 'S256',
    auth: endpoints.authorize ?? `${site}/login/oauth/authorize`,
    token: endpoints.token ?? `${site}/login/oauth/access_token`,
    scope: ['user:email'],
    scopeSeparator: ',',
    async profile(credentials) {
      const { token } = credentials;
      const user = toMembers(await fetchProfile(endpoints.profile ?? `${api}/user`, token, headers));
      const emails = await fetchProfile(endpoints.emails ?? `${api}/user/emails`, token, headers);
      credentials.profile = {
        id: user['id'],
        email: findPrimaryEmail(emails),
        isEmailVerified: true,
        name: user['name'] ?? user['login'],
        avatarUrl: user['avatar_url'],
      } satisfies ProviderProfile;
    },
  };
}

function findPrimaryEmail(emails: unknown): unknown {
  if (!Array.isArray(emails)) throw new Error('GitHub did not answer with a list of e-mail addresses');
  return emails.map(toMembers).find((one) => one['primary'] === true && one['verified'] === true)?.['email'];
}
