import { without } from './adapt-members.ts';
import type { Adaptation } from './adaptation.ts';

/** Takes sampling parameters out where the model refuses them. */
export function adaptSampling(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => (profile.quirks.sampling ? body : without(body, names, notes));
}

/** Takes the id of the end user out where the route refuses it. */
export function adaptUser(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => (profile.quirks.end_user ? body : without(body, names, notes));
}

/** Cuts the limit of output tokens to what the model can write. */
export function adaptLimit(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => {
    const most = profile.quirks.max_output_tokens;
    if (most === undefined) return body;
    let limited = body;
    for (const name of names) {
      const value = body[name];
      if (typeof value !== 'number' || value <= most) continue;
      notes.approximate(`${name} as ${most}`);
      limited = { ...limited, [name]: most };
    }
    return limited;
  };
}
