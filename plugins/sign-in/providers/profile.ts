import type { SignInProfile } from '#core/accounts/identities.ts';

/** What a provider says about a person. */
export interface ProviderProfile {
  readonly id: string | number | undefined;
  readonly email: string | null | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | null | undefined;
  readonly avatarUrl: string | undefined;
}

/** The profile that bell makes for its built-in providers; the original is in `raw`. */
export interface BellProfile {
  readonly id?: unknown;
  readonly username?: unknown;
  readonly displayName?: unknown;
  readonly email?: unknown;
  readonly raw?: Readonly<Record<string, unknown>>;
}

/**
 * Reads the profile of a provider that is only known through bell. An address counts when the provider calls it verified
 * in the way of OpenID Connect, or the operator trusts the provider.
 */
export function fromBell(provider: string, profile: BellProfile, isTrusted: boolean): ProviderProfile {
  const { raw = {} } = profile;
  const verified = provider === 'discord' ? raw['verified'] : raw['email_verified'];
  return {
    id: idOf(profile.id) ?? idOf(raw['sub']) ?? idOf(raw['id']),
    email: typeof profile.email === 'string' ? profile.email : undefined,
    isEmailVerified: isTrusted || verified === true || verified === 'true',
    name: textOf(profile.displayName) ?? textOf(profile.username),
    avatarUrl: undefined,
  };
}

/** The person, as accounts know people. @throws Error when the provider did not say who it is */
export function toPerson(provider: string, profile: ProviderProfile): SignInProfile {
  const { id, email, isEmailVerified, name, avatarUrl } = profile;
  const subject = idOf(id);
  if (subject === undefined) throw new Error(`${provider} did not return an id`);
  return { provider, subject, email: isEmailVerified ? (email ?? undefined) : undefined, name: name ?? '', avatarUrl };
}

/** Numbers are ids at some providers. */
function idOf(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : undefined;
}

function textOf(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? text : undefined;
}
