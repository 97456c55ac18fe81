import type { SignInProfile } from '#core/business/accounts/identities.ts';

/** Unvalidated, so values may have any type. */
export interface ProviderProfile {
  readonly id: unknown;
  readonly email: unknown;
  readonly isEmailVerified: boolean;
  readonly name: unknown;
  readonly avatarUrl: unknown;
}

/** bell's profile for its built-in providers; `raw` is the original. */
export interface BellProfile {
  readonly id?: unknown;
  readonly username?: unknown;
  readonly displayName?: unknown;
  readonly email?: unknown;
  readonly raw?: unknown;
  readonly [member: string]: unknown;
}

/**
 * The email address counts as verified if the provider says so in an OpenID Connect-style `email_verified` field, or if the operator trusts
 * the provider.
 */
export function readBellProfile(provider: string, profile: BellProfile, isTrusted: boolean): ProviderProfile {
  // For some providers, bell returns the response itself, without `raw`.
  const raw = profile.raw === undefined ? profile : toMembers(profile.raw);
  return {
    id: readSpecificId(provider, raw) ?? parseId(profile.id) ?? parseId(raw['sub']) ?? parseId(raw['id']),
    email: profile.email ?? raw['email'],
    isEmailVerified: isTrusted || isVerified(provider, raw),
    name: [profile.displayName, profile.username, ...listNames(raw)].find((name) => parseText(name) !== undefined),
    avatarUrl: undefined,
  };
}

/** A name that its owner can change is not an id. */
function readSpecificId(provider: string, raw: Members): string | undefined {
  switch (provider) {
    case 'dropbox':
      return parseId(raw['account_id']);
    case 'salesforce':
      return parseId(raw['user_id']);
    case 'trakt':
      return parseId(toMembers(raw['ids'])['uuid']);
    default:
      return undefined;
  }
}

function isVerified(provider: string, raw: Members): boolean {
  // It returns only verified addresses (https://dev.twitch.tv/docs/api/reference/#get-users).
  if (provider === 'twitch') return true;
  const verified = provider === 'discord' ? raw['verified'] : raw['email_verified'];
  return verified === true || verified === 'true';
}

function listNames(raw: Members): unknown[] {
  return [raw['display_name'], raw['name'], toMembers(raw['name'])['display_name'], raw['username']];
}

/** Values that are not text count as missing, but a missing id is an error. */
export function toSignInProfile(provider: string, profile: ProviderProfile): SignInProfile {
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
