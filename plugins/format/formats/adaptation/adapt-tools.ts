import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { member, scalarText } from '../../wire/members.ts';
import type { Adaptation, AdaptationTarget } from '../contract/adaptation.ts';
import { isSet, mapEntries, mapMembers, without } from './adapt-members.ts';

/**
 * Removes tools if the model supports none.
 *
 * @param names names of the members about tools
 */
export function adaptTools(names: readonly string[]): Adaptation {
  return (body, { profile, notes }) => {
    if (profile.capabilities.tools) return body;
    const isLoss = [body['tools'], body['functions']].some((tools) => Array.isArray(tools) && tools.length > 0);
    if (isLoss) notes.drop('tools');
    return without(body, names);
  };
}

/**
 * Replaces a forced tool choice by a free choice of the model.
 *
 * @param free returns the value without the force; the same value if it forces no call
 */
export function adaptForcedTools(free: (name: string, value: JsonValue) => JsonValue): Adaptation {
  return (body, { profile, notes }) => {
    if (profile.quirks.forced_tools || !profile.capabilities.tools) return body;
    const freed = mapMembers(body, free);
    if (freed !== body) notes.approximate('forced tool_choice as auto');
    return freed;
  };
}

/**
 * Removes tools that must not be called if the route would let the model call them. This loses nothing: without a tool there is no call.
 *
 * @param isOff true for a request that forbids calls
 * @param names names of the members about tools
 */
export function adaptUnusedTools(isOff: (body: JsonObject) => boolean, names: readonly string[]): Adaptation {
  return (body, { profile }) => (profile.quirks.no_tools || !isOff(body) ? body : without(body, names));
}

/** For OpenAI's formats, in which `parallel_tool_calls` is at the same level as the tools. */
export const adaptParallelCalls: Adaptation = (body, { profile: { capabilities, quirks }, notes }) => {
  if (!quirks.parallel_switch) {
    // Without the parameter, vendors allow parallel calls.
    return without(body, ['parallel_tool_calls'], body['parallel_tool_calls'] === false ? notes : undefined);
  }
  const isTooMuch = !capabilities.parallel_tools && body['parallel_tool_calls'] === true;
  return isTooMuch ? { ...body, parallel_tool_calls: false } : body;
};

/**
 * Removes `strict` from tools if the route does not support it.
 *
 * @param relax returns the tool without `strict`; the same object if it has no `strict`
 */
export function adaptStrictTools(relax: (tool: JsonObject, notes: Notes) => JsonObject): Adaptation {
  return (body, { profile, notes }) => {
    const { tools } = body;
    if (profile.quirks.strict_tools || !Array.isArray(tools)) return body;
    const relaxed = mapEntries(tools, (tool) => (isJsonObject(tool) ? relax(tool, notes) : tool));
    return relaxed === tools ? body : { ...body, tools: relaxed };
  };
}

/** The object without `strict`. */
export function withoutStrict(object: JsonObject, notes: Notes): JsonObject {
  const { strict, ...others } = object;
  if (strict === true) notes.drop('strict of tools');
  return strict === undefined ? object : others;
}

/** True for a `tool_choice` that forces a call. */
export function isForced(choice: JsonValue): boolean {
  if (!isJsonObject(choice)) return typeof choice === 'string' && choice !== 'auto' && choice !== 'none';
  const { type } = choice;
  if (type === 'allowed_tools') return modeOf(choice) === 'required';
  return isSet(type) && type !== 'auto' && type !== 'none';
}

/** Chat nests the mode one level deeper than Responses. */
function modeOf(choice: JsonObject): JsonValue | undefined {
  return choice['mode'] ?? member(choice['allowed_tools'], 'mode');
}

/** Frees the `tool_choice` of the formats of OpenAI. */
export function freeChoice(name: string, choice: JsonValue): JsonValue {
  if (name !== 'tool_choice' || !isForced(choice)) return choice;
  if (member(choice, 'type') !== 'allowed_tools' || !isJsonObject(choice)) return 'auto';
  const { allowed_tools: allowed } = choice;
  return isJsonObject(allowed)
    ? { ...choice, allowed_tools: { ...allowed, mode: 'auto' } }
    : { ...choice, mode: 'auto' };
}

/**
 * Removes tools that only another vendor can run, or replaces them by functions.
 *
 * @param replace returns the tool for the route: the same object if the route supports it, undefined if nothing can replace it
 * @throws GatewayError `not_supported` if no tool is left, or the forced tool is removed: the model would invent the tool's
 *   results
 */
export function adaptHostedTools(
  replace: (tool: JsonObject, target: AdaptationTarget) => JsonObject | undefined,
): Adaptation {
  return (body, target) => {
    const { tools, tool_choice: choice } = body;
    if (!Array.isArray(tools) || tools.length === 0 || !target.profile.capabilities.tools) return body;
    const lost: JsonObject[] = [];
    const known = tools.flatMap((tool) => {
      const kept = isJsonObject(tool) ? replace(tool, target) : tool;
      if (kept === undefined) lost.push(tool as JsonObject);
      return kept === undefined ? [] : [kept];
    });
    const missed = lost.find((tool) => known.length === 0 || isChosen(tool, choice));
    if (missed !== undefined) throw unsupportedTool(missed);
    const isSame = known.length === tools.length && known.every((tool, index) => tool === tools[index]);
    return isSame ? body : { ...body, tools: known };
  };
}

/** True for the tool that must be called: Messages gives its name, Responses its type. */
function isChosen(tool: JsonObject, choice: JsonValue | undefined): boolean {
  return ['name', 'type'].some((key) => tool[key] !== undefined && member(choice, key) === tool[key]);
}

/** Gemini names tools by a member, the other formats by their type. */
export function unsupportedTool(tool: JsonObject): GatewayError {
  const type = scalarText(tool['type'] ?? Object.keys(tool)[0]);
  const message = `Tools of type "${type.slice(0, 64)}" are not supported by this model.`;
  return new GatewayError('not_supported', message, { param: 'tools' });
}
