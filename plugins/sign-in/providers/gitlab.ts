import type { CustomProtocol2 } from '@hapi/bell';
import type { ProviderSettings } from '../section.ts';
import { fetchProfile } from './fetch-profile.ts';
import { toMembers, type ProviderProfile } from './profile.ts';

/**
 * gitlab.com, or a self-managed GitLab if `config: { uri }` is set. Replaces bell's built-in provider, which still calls API v3,
 * removed in GitLab 11 (2018). The email address counts as verified only once GitLab has confirmed it (https://docs.gitlab.com/api/users/),
 * unless `trust_email` is set.
 */
export function buildGitlab({ config = {}, endpoints = {}, trust_email }: ProviderSettings): CustomProtocol2 {
  const site = (config['uri'] ?? 'https://gitlab.com').replace(/\/+$/, '');
  return {
    name: 'gitlab',
    protocol: 'oauth2',
    pkce: 'S256',
    auth: endpoints.authorize ?? `${site}/oauth/authorize`,
    token: endpoints.token ?? `${site}/oauth/token`,
    scope: ['read_user'],
    async profile(credentials) {
      const user = toMembers(await fetchProfile(endpoints.profile ?? `${site}/api/v4/user`, credentials.token));
      credentials.profile = {
        id: user['id'],
        email: user['email'],
        isEmailVerified: trust_email || typeof user['confirmed_at'] === 'string',
        name: user['name'] ?? user['username'],
        avatarUrl: user['avatar_url'],
      } satisfies ProviderProfile;
    },
  };
}
