import { type Capabilities, type CapabilitySettings, defaultCapabilities } from './capabilities.ts';
import { defaultQuirks, type Quirks, type QuirkSettings } from './quirks.ts';

/** The configured part of a profile. */
export interface ProfileSettings {
  readonly capabilities?: CapabilitySettings | undefined;
  readonly quirks?: QuirkSettings | undefined;
}

/** Capabilities of a model on a route, and its vendor's quirks. */
export interface Profile {
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
  /** Profiles of the endpoint's formats that differ from the others. */
  readonly byFormat?: ReadonlyMap<string, Profile>;
}

/** Merges settings over the defaults. Later settings override earlier ones; settings of a format override the general settings. */
export function mergeProfiles(...settings: readonly ProfileSettings[]): Profile {
  const formats = new Set(settings.flatMap(({ quirks }) => Object.keys(quirks?.by_format ?? {})));
  const plain = mergeSettings(settings);
  if (formats.size === 0) return plain;
  return { ...plain, byFormat: new Map([...formats].map((format) => [format, mergeSettings(settings, format)])) };
}

/**
 * Shares the parts of profiles with equal settings, because thousands of routes use only a few. Each route still has a profile object
 * of its own, because findings about a route are kept by that object.
 */
export class SharedProfiles {
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<ProfileSettings, number>();
  readonly #merged = new Map<string, Profile>();

  /** See `mergeProfiles`. */
  merge(...settings: readonly ProfileSettings[]): Profile {
    const relevant = settings.filter(({ capabilities, quirks }) => capabilities !== undefined || quirks !== undefined);
    const key = relevant.map((one) => this.#numberOf(one)).join();
    const merged = this.#merged.get(key) ?? mergeProfiles(...relevant);
    this.#merged.set(key, merged);
    return copyOf(merged);
  }

  #numberOf(settings: ProfileSettings): number {
    const known = this.#known.get(settings);
    if (known !== undefined) return known;
    const text = JSON.stringify([settings.capabilities, settings.quirks]);
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(settings, number);
    return number;
  }
}

function copyOf({ byFormat, ...plain }: Profile): Profile {
  if (byFormat === undefined) return plain;
  return { ...plain, byFormat: new Map([...byFormat].map(([format, profile]) => [format, { ...profile }])) };
}

/** Returns the profile of a route in one of the formats of its endpoint. */
export function profileIn(format: string, profile: Profile): Profile {
  return profile.byFormat?.get(format) ?? profile;
}

/** Returns the profile with a lower limit of output tokens, in all formats. */
export function withOutputLimit({ byFormat, ...plain }: Profile, limit: number): Profile {
  const lowered = <T extends Pick<Profile, 'quirks'>>(profile: T): T => ({
    ...profile,
    quirks: { ...profile.quirks, max_output_tokens: Math.min(limit, profile.quirks.max_output_tokens ?? limit) },
  });
  if (byFormat === undefined) return lowered(plain);
  return { ...lowered(plain), byFormat: new Map([...byFormat].map(([format, profile]) => [format, lowered(profile)])) };
}

function mergeSettings(settings: readonly ProfileSettings[], format?: string): Profile {
  const quirks = settings.flatMap(({ quirks: { by_format, ...others } = {} }) => [
    others,
    format === undefined ? {} : by_format?.[format],
  ]);
  return {
    capabilities: Object.assign({}, defaultCapabilities, ...settings.map(({ capabilities }) => capabilities)),
    quirks: Object.assign({}, defaultQuirks, ...quirks),
  };
}
