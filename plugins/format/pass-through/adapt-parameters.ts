import type { JsonObject } from '#core/json.ts';
import { noteCutting } from '../canonical/stop-cutter.ts';
import { textsOf } from '../request/members.ts';
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
      notes.approximate(`the limit of output tokens as ${most}`);
      limited = { ...limited, [name]: most };
    }
    return limited;
  };
}

/**
 * Cuts the stop sequences to those that the route takes; the gateway looks for the others in the answer.
 *
 * @param isSingleAnswer false for a request whose answers cannot be cut, because it asks for several
 */
export function adaptStops(name: string, isSingleAnswer: (body: JsonObject) => boolean = () => true): Adaptation {
  return (body, { profile, notes }) => {
    const most = profile.quirks.stop;
    const wanted = textsOf(body[name]);
    if (wanted.length <= most) return body;
    if (isSingleAnswer(body)) noteCutting(notes);
    else notes.drop(name);
    const { [name]: _, ...rest } = body;
    return most === 0 ? rest : { ...rest, [name]: wanted.slice(0, most) };
  };
}
