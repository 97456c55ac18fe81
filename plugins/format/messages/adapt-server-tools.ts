import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { isWebSearch } from '../canonical/tools.ts';
import { adaptHostedTools } from '../pass-through/adapt-hosted-tools.ts';
import { mapEntries, withMember } from '../pass-through/adapt-members.ts';
import { type Adaptation, type Probe, rewriteMembers } from '../pass-through/adaptation.ts';
import { referenceText } from './read-content.ts';
import { isPlaceholder } from './read-tools.ts';

/**
 * Leaves out tools that only Anthropic can run where another vendor is behind the route; those that it knows by a type,
 * but that clients run, become plain ones.
 *
 * @throws GatewayError `not_supported`, see `adaptHostedTools`
 */
export function adaptServerTools(probe: Probe): Adaptation {
  return adaptHostedTools((tool, target) => {
    const { type } = tool;
    const { hosted_search, betas } = target.profile.quirks;
    if (typeof type === 'string' && isWebSearch(type)) {
      if (!hosted_search) target.notes.drop('web_search');
      return hosted_search ? tool : undefined;
    }
    if (betas) return tool;
    if (type === undefined || type === null || type === 'custom') return isPlaceholder(tool) ? undefined : tool;
    const { tools } = rewriteMembers(probe, { tools: [tool] }, target);
    const [plain] = Array.isArray(tools) ? tools : [];
    return isJsonObject(plain) ? withMember(plain, 'cache_control', tool['cache_control']) : undefined;
  });
}

/** Says as text which tools a search has found, where another vendor is behind the route. */
export const adaptToolReferences: Adaptation = (body, { profile }) => {
  const { messages } = body;
  if (profile.quirks.betas || !Array.isArray(messages)) return body;
  return withMember(body, 'messages', mapEntries(messages, inContent(inContent(asText))));
};

/** Changes the entries of `content`, where it is a list. */
function inContent(change: (entry: JsonValue) => JsonValue): (holder: JsonValue) => JsonValue {
  return (holder) => {
    const content = isJsonObject(holder) ? holder['content'] : undefined;
    return Array.isArray(content) ? withMember(holder as JsonObject, 'content', mapEntries(content, change)) : holder;
  };
}

function asText(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || block['type'] !== 'tool_reference') return block;
  const { tool_name: name } = block;
  return typeof name === 'string' ? { type: 'text', text: referenceText(name) } : block;
}
