import { type Capabilities, type CapabilitySettings, defaultCapabilities } from './capabilities.ts';
import { defaultQuirks, type Quirks, type QuirkSettings } from './quirks.ts';

/** The configured part of a profile. */
export interface ProfileSettings {
  readonly capabilities?: CapabilitySettings | undefined;
  readonly quirks?: QuirkSettings | undefined;
}

/** What a model can do on a route, and how its vendor deviates from the plain form of a format. */
export interface Profile {
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
}

/** Merges settings over the defaults; later ones override earlier ones. */
export function mergeProfiles(...settings: readonly ProfileSettings[]): Profile {
  return {
    capabilities: Object.assign({}, defaultCapabilities, ...settings.map(({ capabilities }) => capabilities)),
    quirks: Object.assign({}, defaultQuirks, ...settings.map(({ quirks }) => quirks)),
  };
}
