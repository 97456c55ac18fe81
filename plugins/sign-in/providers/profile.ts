import type { SignInProfile } from '#core/business/accounts/identities.ts';

/** A provider's data about a person, unchecked: it may be anything. */
export interface ProviderProfile {
  readonly id: unknown;
  readonly email: unknown;
  readonly isEmailVerified: boolean;
  readonly name: unknown;
  readonly avatarUrl: unknown;
}

/** The profile that bell makes for its built-in providers; the original is in `raw`. */
export interface BellProfile {
  readonly id?: unknown;
  readonly username?: unknown;
  readonly displayName?: unknown;
  readonly email?: unknown;
  readonly raw?: unknown;
  readonly [member: string]: unknown;
}

/**
 * Reads the profile of a provider that is only known through bell. An address counts when the provider calls it verified
 * in the way of OpenID Connect, or the operator trusts the provider.
 */
export function fromBell(provider: string, profile: BellProfile, isTrusted: boolean): ProviderProfile {
  // Of some, bell passes on the answer itself.
  const raw = profile.raw === undefined ? profile : objectFrom(profile.raw);
  return {
    id: ownId(provider, profile) ?? idOf(profile.id) ?? idOf(raw['sub']) ?? idOf(raw['id']),
    email: profile.email ?? raw['email'],
    isEmailVerified: isTrusted || isVerified(provider, raw),
    name: [profile.displayName, profile.username, ...namesIn(raw)].find((name) => textOf(name) !== undefined),
    avatarUrl: undefined,
  };
}

/** Of providers that have the id in a member of their own. A name that its owner can change is no id. */
function ownId(provider: string, profile: Members): string | undefined {
  switch (provider) {
    case 'dropbox':
      return idOf(profile['account_id']);
    case 'salesforce':
      return idOf(profile['user_id']);
    case 'trakt':
      return idOf(objectFrom(profile['ids'])['uuid']);
    default:
      return undefined;
  }
}

/** Twitch only ever gives verified addresses (https://dev.twitch.tv/docs/api/reference/#get-users). */
function isVerified(provider: string, raw: Members): boolean {
  if (provider === 'twitch') return true;
  const verified = provider === 'discord' ? raw['verified'] : raw['email_verified'];
  return verified === true || verified === 'true';
}

function namesIn(raw: Members): unknown[] {
  return [raw['display_name'], raw['name'], objectFrom(raw['name'])['display_name'], raw['username']];
}

/** The person, as accounts know people: what is not text counts as missing. @throws Error when the provider did not say who it is */
export function toPerson(provider: string, profile: ProviderProfile): SignInProfile {
  const { id, email, isEmailVerified, name, avatarUrl } = profile;
  const subject = idOf(id);
  if (subject === undefined) throw new Error(`${provider} did not return an id`);
  return {
    provider,
    subject,
    email: isEmailVerified ? textOf(email) : undefined,
    name: textOf(name) ?? '',
    avatarUrl: textOf(avatarUrl),
  };
}

export type Members = Readonly<Record<string, unknown>>;

/** Members of an answer; of anything but an object, none. */
export function objectFrom(answer: unknown): Members {
  return typeof answer === 'object' && answer !== null ? (answer as Members) : {};
}

/** Numbers are ids at some providers. An id that the database would store as another one is none. */
function idOf(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' && id.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(id) ? id : undefined;
}

function textOf(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? text : undefined;
}
