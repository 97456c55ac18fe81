import { type Capabilities, type CapabilitySettings, defaultCapabilities } from './capabilities.ts';
import { defaultQuirks, type Quirks, type QuirkSettings } from './quirks.ts';

/** What is configured of a model on a route, each member left out where nothing is. */
export interface ProfileSettings {
  readonly capabilities?: CapabilitySettings | undefined;
  readonly quirks?: QuirkSettings | undefined;
}

/** What a model can do on a route, and how its vendor deviates from the plain form of a format. */
export interface Profile {
  readonly capabilities: Capabilities;
  readonly quirks: Quirks;
}

/** Lays settings over each other: of several that set a member, the last one counts. */
export function mergeProfiles(...settings: readonly ProfileSettings[]): Profile {
  return {
    capabilities: Object.assign({}, defaultCapabilities, ...settings.map(({ capabilities }) => capabilities)),
    quirks: Object.assign({}, defaultQuirks, ...settings.map(({ quirks }) => quirks)),
  };
}
