import type { Profile } from '#core/config/catalog/profile.ts';
import type { Quirks } from '#core/config/catalog/quirks.ts';
import { type JsonObject, type JsonValue, isJsonObject } from '#core/platform/json.ts';
import type { Codec } from '../../canonical/codec.ts';
import { Notes } from '../../canonical/notes.ts';
import { writeInstruction } from '../../canonical/output-format.ts';
import { fitBudget } from '../../canonical/reasoning.ts';
import { noteGatewayStops } from '../../canonical/stop-cutter.ts';
import { asFilledObject, listTexts } from '../../wire/members.ts';
import { type Adaptation, decodeMembers } from '../contract/adaptation.ts';
import { canOmit, omitMembers, withMember } from './adapt-members.ts';

export function adaptSampling(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => (profile.quirks.sampling ? body : omitMembers(body, names, notes));
}

interface EndUserMembers {
  readonly names: readonly string[];
  write(id: string, quirks: Quirks): JsonObject;
}

/** The end user in OpenAI's formats other than the conversation formats. */
export const plainEndUser: EndUserMembers = { names: ['user'], write: (user) => ({ user }) };

/** The end user in OpenAI's conversation formats. Endpoints that imitate OpenAI's only support the older field, `user`. */
export const openaiEndUser: EndUserMembers = {
  names: ['user', 'safety_identifier'],
  write: (id, { betas }) => (betas ? { safety_identifier: id } : { user: id }),
};

/** Removes the end-user id if the route rejects it, or replaces it if the upstream must learn which account sent the request. */
export function adaptEndUser({ names, write }: EndUserMembers): Adaptation {
  return (body, { profile: { quirks }, notes, endUser }) => {
    if (!quirks.end_user) return omitMembers(body, names, notes);
    if (endUser === undefined) return body;
    for (const name of names) if (!canOmit(name, body[name])) notes.approximate(`${name} as a hash of the account`);
    return { ...omitMembers(body, names), ...write(endUser, quirks) };
  };
}

/** Objects in the request and their members that hold a budget, which must be less than the output token limit. */
const budgetMembers = [
  ['thinking', 'budget_tokens'],
  ['reasoning', 'max_tokens'], // OpenRouter
] as const;

/** Lowers the output token limit to the model's maximum and fits the reasoning budget into it. */
export function adaptOutputLimit(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => {
    const maxTokens = profile.quirks.max_output_tokens;
    if (maxTokens === undefined) return body;
    let limitedBody = body;
    for (const name of names) {
      const value = body[name];
      if (typeof value !== 'number' || value <= maxTokens) continue;
      notes.approximate(`output token limit as ${maxTokens}`);
      limitedBody = { ...limitedBody, [name]: maxTokens };
    }
    if (limitedBody === body) return body;
    return budgetMembers.reduce((fitted, budget) => fitReasoningBudget(fitted, budget, maxTokens, notes), limitedBody);
  };
}

function fitReasoningBudget(
  body: JsonObject,
  [holder, name]: (typeof budgetMembers)[number],
  limit: number,
  notes: Notes,
): JsonObject {
  const { [holder]: reasoning, ...others } = body;
  if (!isJsonObject(reasoning)) return body;
  const { [name]: budget } = reasoning;
  if (typeof budget !== 'number' || budget < limit) return body;
  const fittingBudget = fitBudget(budget, limit, notes);
  return fittingBudget === undefined ? others : { ...body, [holder]: { ...reasoning, [name]: fittingBudget } };
}

/**
 * Sends only as many stop sequences as the route supports. The gateway applies the others to the reply.
 *
 * @param isSingleChoice returns false for a request for several choices, which the gateway cannot cut
 */
export function adaptStops(name: string, isSingleChoice: (body: JsonObject) => boolean = () => true): Adaptation {
  return (body, { profile, notes }) => {
    const maxSequences = profile.quirks.stop;
    const sequences = listTexts(body[name]);
    if (sequences.length <= maxSequences) return body;
    if (isSingleChoice(body)) noteGatewayStops(notes);
    else notes.drop(name);
    // The member keeps its position, because some caches compare bodies byte by byte.
    return withMember(body, name, maxSequences === 0 ? undefined : sequences.slice(0, maxSequences));
  };
}

/** Finds and changes the request for JSON output in a format. */
export interface OutputFormatEditor {
  /** Returns undefined if no member requests JSON. */
  find(body: JsonObject): JsonObject | undefined;
  /** Removes the request for JSON, or asks for any object if the route supports that. */
  replace(body: JsonObject, supportsObject: boolean): JsonObject;
  instruct(body: JsonObject, text: string, profile: Profile): JsonObject;
}

/** Requests JSON in the strictest way that the model supports: with a parameter, otherwise with an instruction. */
export function adaptOutput(codec: Codec, { find, replace, instruct }: OutputFormatEditor): Adaptation {
  return (body, { profile, notes }) => {
    const support = profile.capabilities.structured_output;
    if (support === 'schema') return body;
    const outputMembers = find(body);
    if (outputMembers === undefined) return body;
    const { output } = decodeMembers(codec, outputMembers, new Notes());
    if (output === undefined || (output.type === 'json_object' && support === 'object')) return body;
    notes.approximate(`${output.type} as instruction`);
    return instruct(replace(body, support === 'object'), writeInstruction(output), profile);
  };
}

/** Requests any JSON object in OpenAI's formats. */
export const anyJsonObject = { type: 'json_object' } as const;

/** Returns the object with a new value for a member; undefined if no member remains. */
export function setOrOmitEmpty(object: JsonValue | undefined, name: string, value: JsonValue | undefined) {
  return isJsonObject(object) ? asFilledObject(withMember(object, name, value)) : object;
}

export function appendInstruction(instructions: JsonValue | undefined, text: string): JsonValue {
  if (Array.isArray(instructions)) return [...instructions, { type: 'text', text }];
  return typeof instructions === 'string' && instructions.trim() !== '' ? `${instructions}\n\n${text}` : text;
}
