import { type Capabilities, type CapabilitySettings, defaultCapabilities } from './capabilities.ts';
import { defaultQuirks, type Quirks, type QuirkSettings } from './quirks.ts';

/** The part of a profile that can be configured. */
export interface ProfileSettings {
  readonly capabilities?: CapabilitySettings | undefined;
  readonly quirks?: QuirkSettings | undefined;
}

/** What a model can do on a route, and its vendor's quirks. */
export interface Profile {
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
  /** Profiles for those of the endpoint's formats that have separate settings. */
  readonly byFormat?: ReadonlyMap<string, Profile>;
}

/** Merges settings over the defaults. Later settings override earlier ones; settings for a format override those for all formats. */
export function mergeProfiles(...settings: readonly ProfileSettings[]): Profile {
  const formats = new Set(settings.flatMap(({ quirks }) => Object.keys(quirks?.by_format ?? {})));
  const general = mergeSettings(settings);
  if (formats.size === 0) return general;
  return { ...general, byFormat: new Map([...formats].map((format) => [format, mergeSettings(settings, format)])) };
}

/**
 * Lets profiles with equal settings share their parts: thousands of routes use only a few different ones. Each route still gets its own
 * profile object, because that object is the key under which learned facts about the route are stored.
 */
export class SharedProfiles {
  readonly #numberByText = new Map<string, number>();
  readonly #numberBySettings = new WeakMap<ProfileSettings, number>();
  readonly #profileByKey = new Map<string, Profile>();

  merge(...settings: readonly ProfileSettings[]): Profile {
    const relevant = settings.filter(({ capabilities, quirks }) => capabilities !== undefined || quirks !== undefined);
    const key = relevant.map((part) => this.#getNumber(part)).join();
    const merged = this.#profileByKey.get(key) ?? mergeProfiles(...relevant);
    this.#profileByKey.set(key, merged);
    return copyProfile(merged);
  }

  #getNumber(settings: ProfileSettings): number {
    const existing = this.#numberBySettings.get(settings);
    if (existing !== undefined) return existing;
    const text = JSON.stringify([settings.capabilities, settings.quirks]);
    const number = this.#numberByText.get(text) ?? this.#numberByText.size;
    this.#numberByText.set(text, number);
    this.#numberBySettings.set(settings, number);
    return number;
  }
}

function copyProfile({ byFormat, ...general }: Profile): Profile {
  if (byFormat === undefined) return general;
  return { ...general, byFormat: new Map([...byFormat].map(([format, profile]) => [format, { ...profile }])) };
}

export function profileIn(format: string, profile: Profile): Profile {
  return profile.byFormat?.get(format) ?? profile;
}

/** Returns the profile with output tokens limited in all formats, unless the profile's own limit is lower. */
export function limitOutput(profile: Profile, limit: number): Profile {
  return mapFormats(profile, ({ capabilities, quirks }) => ({
    capabilities,
    quirks: { ...quirks, max_output_tokens: Math.min(limit, quirks.max_output_tokens ?? limit) },
  }));
}

export function withoutReasoning(profile: Profile): Profile {
  return mapFormats(profile, ({ capabilities, quirks }) => ({
    capabilities: { ...capabilities, reasoning: false },
    quirks,
  }));
}

type PlainProfile = Pick<Profile, 'capabilities' | 'quirks'>;

function mapFormats({ byFormat, ...plain }: Profile, change: (profile: PlainProfile) => PlainProfile): Profile {
  const changed = { ...plain, ...change(plain) };
  if (byFormat === undefined) return changed;
  const changedFormats = [...byFormat].map(
    ([format, profile]) => [format, { ...profile, ...change(profile) }] as const,
  );
  return { ...changed, byFormat: new Map(changedFormats) };
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
