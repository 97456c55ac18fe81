import type { SignInProfile } from '#core/business/accounts/identities.ts';

/** Unvalidated data about a person from a provider: members may have any type. */
export interface ProviderProfile {
  readonly id: unknown;
  readonly email: unknown;
  readonly isEmailVerified: boolean;
  readonly name: unknown;
  readonly avatarUrl: unknown;
}

/** Profile created by bell for its built-in providers; `raw` contains the original. */
export interface BellProfile {
  readonly id?: unknown;
  readonly username?: unknown;
  readonly displayName?: unknown;
  readonly email?: unknown;
  readonly raw?: unknown;
  readonly [member: string]: unknown;
}

/**
 * Reads a profile of a provider that only bell supports. Its address is used if the provider marks it as verified like OpenID Connect, or
 * if the operator trusts the provider.
 */
export function readBellProfile(provider: string, profile: BellProfile, isTrusted: boolean): ProviderProfile {
  // For some providers, bell returns the response itself.
  const raw = profile.raw === undefined ? profile : toMembers(profile.raw);
  return {
    id: readSpecificId(provider, profile) ?? parseId(profile.id) ?? parseId(raw['sub']) ?? parseId(raw['id']),
    email: profile.email ?? raw['email'],
    isEmailVerified: isTrusted || isVerified(provider, raw),
    name: [profile.displayName, profile.username, ...listNames(raw)].find((name) => parseText(name) !== undefined),
    avatarUrl: undefined,
  };
}

/** Reads the id of providers that store it in a member of their own. A name that its owner can change is not an id. */
function readSpecificId(provider: string, profile: Members): string | undefined {
  switch (provider) {
    case 'dropbox':
      return parseId(profile['account_id']);
    case 'salesforce':
      return parseId(profile['user_id']);
    case 'trakt':
      return parseId(toMembers(profile['ids'])['uuid']);
    default:
      return undefined;
  }
}

/** Twitch returns only verified addresses (https://dev.twitch.tv/docs/api/reference/#get-users). */
function isVerified(provider: string, raw: Members): boolean {
  if (provider === 'twitch') return true;
  const verified = provider === 'discord' ? raw['verified'] : raw['email_verified'];
  return verified === true || verified === 'true';
}

function listNames(raw: Members): unknown[] {
  return [raw['display_name'], raw['name'], toMembers(raw['name'])['display_name'], raw['username']];
}

/** Converts a profile. Members that are not text count as missing, but a missing id is an error. */
export function toPerson(provider: string, profile: ProviderProfile): SignInProfile {
  const { id, email, isEmailVerified, name, avatarUrl } = profile;
  const subject = parseId(id);
  if (subject === undefined) throw new Error(`${provider} did not return an id`);
  return {
    provider,
    subject,
    email: isEmailVerified ? parseText(email) : undefined,
    name: parseText(name) ?? '',
    avatarUrl: parseText(avatarUrl),
  };
}

export type Members = Readonly<Record<string, unknown>>;

/** Returns the members of a response; empty unless it is an object. */
export function toMembers(response: unknown): Members {
  return typeof response === 'object' && response !== null ? (response as Members) : {};
}

/** Some providers use numbers as ids. Rejects ids that would change when stored. */
function parseId(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' && id.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(id) ? id : undefined;
}

function parseText(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? text : undefined;
}
