import type { JsonObject, JsonValue } from '#core/json.ts';
import { isJsonObject } from '#core/json.ts';
import type { Profile } from '#core/catalog/profile.ts';
import { Notes } from '../canonical/notes.ts';
import { instructionFor } from '../canonical/write-output-format.ts';
import { undefinedIfEmpty, withMember } from './adapt-members.ts';
import { type Adaptation, type Probe, readMembers } from './adaptation.ts';

/** How a format asks for JSON. */
export interface OutputWording {
  /** The members that ask for it; undefined when none does. */
  find(body: JsonObject): JsonObject | undefined;
  /** The body without them, or with what asks for any object. */
  replace(body: JsonObject, isObjectKnown: boolean): JsonObject;
  /** The body with one more instruction. */
  instruct(body: JsonObject, text: string, profile: Profile): JsonObject;
}

/** Asks for JSON as well as the model can be asked: what it does not know as a parameter is said in words. */
export function adaptOutput(probe: Probe, { find, replace, instruct }: OutputWording): Adaptation {
  return (body, { profile, notes }) => {
    const known = profile.capabilities.structured_output;
    if (known === 'schema') return body;
    const asked = find(body);
    if (asked === undefined) return body;
    const { output } = readMembers(probe, asked, new Notes());
    if (output === undefined || (output.type === 'json_object' && known === 'object')) return body;
    notes.approximate(`${output.type} as instruction`);
    return instruct(replace(body, known === 'object'), instructionFor(output), profile);
  };
}

/** What asks for any JSON object in the formats of OpenAI. */
export const anyObject = { type: 'json_object' } as const;

export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** An object with another value of a member; undefined when nothing is left of it. */
export function withoutEmpty(object: JsonValue | undefined, name: string, value: JsonValue | undefined) {
  return isJsonObject(object) ? undefinedIfEmpty(withMember(object, name, value)) : object;
}

/** A text with another behind it. */
export function instructedText(said: JsonValue | undefined, text: string): JsonValue {
  if (Array.isArray(said)) return [...said, { type: 'text', text }];
  return typeof said === 'string' && said.trim() !== '' ? `${said}\n\n${text}` : text;
}
