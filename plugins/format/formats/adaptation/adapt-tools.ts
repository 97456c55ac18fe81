import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { asList, readMember, keepIfSame, scalarToText } from '../../wire/members.ts';
import type { Adaptation, AdaptationTarget } from '../contract/adaptation.ts';
import { isSet, mapMembers, mapObjects, omitMembers, withMember } from './adapt-members.ts';

interface ToolMembers {
  readonly names: readonly string[];
  /** Returns the same object if the tool has no `strict`. Missing in formats without `strict`. */
  relax?(tool: JsonObject, notes: Notes): JsonObject;
  /** Missing if all routes of the format can forbid calls. */
  forbidsCalls?(body: JsonObject): boolean;
}

/**
 * Removes features that the route does not support: `strict`, or all tools. If a request forbids calls but the route cannot prevent them,
 * its tools are removed without loss, because a model cannot call tools that are not in the request.
 */
export function adaptToolMembers({ names, relax, forbidsCalls }: ToolMembers): Adaptation {
  return (body, { profile: { capabilities, quirks }, notes }) => {
    const keepsStrict = quirks.strict_tools || relax === undefined;
    const relaxedBody = keepsStrict ? body : mapObjects(body, 'tools', (tool) => relax(tool, notes));
    const { tools, functions } = relaxedBody;
    const isForbidden = !quirks.no_tools && forbidsCalls?.(relaxedBody) === true;
    if (capabilities.tools) return isForbidden ? omitMembers(relaxedBody, names) : relaxedBody;
    if ([tools, functions].some((list) => asList(list).length > 0)) notes.drop('tools');
    return omitMembers(relaxedBody, names);
  };
}

/**
 * For routes that cannot force calls, replaces a tool choice that forces a call with one that leaves the decision to the model.
 *
 * @param relax returns a member's value in a form that does not force a call; the same value if it already does not
 */
export function adaptForcedTools(relax: (name: string, value: JsonValue) => JsonValue): Adaptation {
  return (body, { profile, notes }) => {
    if (profile.quirks.forced_tools || !profile.capabilities.tools) return body;
    const relaxedBody = mapMembers(body, relax);
    if (relaxedBody !== body) notes.approximate('forced tool_choice as auto');
    return relaxedBody;
  };
}

/** Adapts `parallel_tool_calls` in OpenAI's formats, where it is next to the tools. */
export const adaptParallelCalls: Adaptation = (body, { profile: { capabilities, quirks }, notes }) => {
  if (!quirks.parallel_switch) {
    // Vendors allow parallel calls by default, so omitting `true` has no effect.
    return omitMembers(body, ['parallel_tool_calls'], body['parallel_tool_calls'] === false ? notes : undefined);
  }
  const exceedsModel = !capabilities.parallel_tools && body['parallel_tool_calls'] === true;
  return exceedsModel ? { ...body, parallel_tool_calls: false } : body;
};

export function removeStrict(object: JsonObject, notes: Notes): JsonObject {
  const { strict, ...others } = object;
  if (strict === true) notes.drop('strict of tools');
  return strict === undefined ? object : others;
}

export function forcesCall(choice: JsonValue): boolean {
  if (!isJsonObject(choice)) return typeof choice === 'string' && choice !== 'auto' && choice !== 'none';
  const { type } = choice;
  if (type === 'allowed_tools') return readAllowedMode(choice) === 'required';
  return isSet(type) && type !== 'auto' && type !== 'none';
}

/** Chat nests the mode one level deeper than Responses. */
function readAllowedMode(choice: JsonObject): JsonValue | undefined {
  return choice['mode'] ?? readMember(choice['allowed_tools'], 'mode');
}

/** For OpenAI's formats. Returns any other member or choice unchanged. */
export function relaxToolChoice(name: string, choice: JsonValue): JsonValue {
  if (name !== 'tool_choice' || !forcesCall(choice)) return choice;
  if (readMember(choice, 'type') !== 'allowed_tools' || !isJsonObject(choice)) return 'auto';
  const { allowed_tools } = choice;
  if (!isJsonObject(allowed_tools)) return { ...choice, mode: 'auto' };
  return { ...choice, allowed_tools: { ...allowed_tools, mode: 'auto' } };
}

/**
 * Removes tools that only another vendor can run, or replaces them with functions.
 *
 * @param replace returns the tool for the route: the same object if the route supports it, undefined if nothing can replace it
 * @throws GatewayError `not_supported` if no tool remains or the forced tool is removed, because the model would then invent the tool's
 *   results
 */
export function adaptHostedTools(
  replace: (tool: JsonObject, target: AdaptationTarget) => JsonObject | undefined,
): Adaptation {
  return (body, target) => {
    const { tools, tool_choice: choice } = body;
    if (!Array.isArray(tools) || tools.length === 0 || !target.profile.capabilities.tools) return body;
    const replacedTools = tools.map((tool) => (isJsonObject(tool) ? replace(tool, target) : tool));
    const remainingTools = replacedTools.filter((tool) => tool !== undefined);
    const removedTools = tools.filter((_tool, index): _tool is JsonObject => replacedTools[index] === undefined);
    const missingTool = removedTools.find((tool) => remainingTools.length === 0 || isForced(tool, choice));
    if (missingTool !== undefined) throw createUnsupportedToolError(missingTool);
    return withMember(body, 'tools', keepIfSame(tools, remainingTools));
  };
}

/** Messages names the forced tool, Responses gives its type. */
function isForced(tool: JsonObject, choice: JsonValue | undefined): boolean {
  return ['name', 'type'].some((key) => tool[key] !== undefined && readMember(choice, key) === tool[key]);
}

/** In Gemini, a member names the tool; in the other formats, its type does. */
export function createUnsupportedToolError(tool: JsonObject): GatewayError {
  const type = scalarToText(tool['type'] ?? Object.keys(tool)[0]);
  const message = `Tools of type "${type.slice(0, 64)}" are not supported by this model.`;
  return new GatewayError('not_supported', message, { param: 'tools' });
}
