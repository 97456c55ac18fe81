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
export function fromBell(provider: string, profile: BellProfile, isTrusted: boolean): ProviderProfile {
  // For some providers, bell returns the response itself.
  const raw = profile.raw === undefined ? profile : objectFrom(profile.raw);
  return {
    id: ownId(provider, profile) ?? idOf(profile.id) ?? idOf(raw['sub']) ?? idOf(raw['id']),
    email: profile.email ?? raw['email'],
    isEmailVerified: isTrusted || isVerified(provider, raw),
    name: [profile.displayName, profile.username, ...namesIn(raw)].find((name) => textOf(name) !== undefined),
    avatarUrl: undefined,
  };
}

/** Id of providers that keep it in another member. A name that its owner can change does not count as an id. */
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

/** Twitch returns only verified addresses (https://dev.twitch.tv/docs/api/reference/#get-users). */
function isVerified(provider: string, raw: Members): boolean {
  if (provider === 'twitch') return true;
  const verified = provider === 'discord' ? raw['verified'] : raw['email_verified'];
  return verified === true || verified === 'true';
}

function namesIn(raw: Members): unknown[] {
  return [raw['display_name'], raw['name'], objectFrom(raw['name'])['display_name'], raw['username']];
}

/** Converts a profile; members that are not text count as missing. @throws Error if the provider did not return an id */
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

/** Returns the members of a response; empty unless it is an object. */
export function objectFrom(answer: unknown): Members {
  return typeof answer === 'object' && answer !== null ? (answer as Members) : {};
}

/** Some providers use numbers as ids. Rejects ids that would change when stored. */
function idOf(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' && id.length <= 255 && !/[\p{Cc}\p{Cs}]/u.test(id) ? id : undefined;
}

function textOf(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? text : undefined;
}
