import { GatewayError } from '#core/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { member } from '../request/members.ts';
import type { Adaptation, AdaptationTarget } from './adaptation.ts';

/**
 * Leaves out tools that a vendor runs itself where the vendor is another, or says them as functions.
 *
 * @param replace what stands for a tool; the very same one where the route knows it, undefined where nothing does
 * @throws GatewayError `not_supported` when no tool is left, or the one that must be called is not: the model would make up
 *   what the tool should have found
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

/** True for the tool that must be called: Messages says its name, Responses its type. */
function isChosen(tool: JsonObject, choice: JsonValue | undefined): boolean {
  return ['name', 'type'].some((key) => tool[key] !== undefined && member(choice, key) === tool[key]);
}

/** Gemini names tools by a member, the other formats by their type. */
export function unsupportedTool(tool: JsonObject): GatewayError {
  const type = String(tool['type'] ?? Object.keys(tool)[0]);
  const message = `Tools of type "${type.slice(0, 64)}" are not supported by this model.`;
  return new GatewayError('not_supported', message, { param: 'tools' });
}
