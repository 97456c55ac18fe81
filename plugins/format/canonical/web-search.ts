import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { HostedTool, SearchOptions, SearchPlace } from './conversation.ts';
import type { Notes } from './notes.ts';
import { maybeInteger, maybeObject, maybeText } from '../wire/read.ts';
import { asText, textsOf, withoutUnset } from '../wire/members.ts';

const placeNames = ['city', 'country', 'region', 'timezone'] as const;

/**
 * Reads a web search in any format. Members that it does not know are noted; those without an effect elsewhere are not.
 *
 * @param silent members that say nothing about the search
 * @throws GatewayError `invalid_request`
 */
export function readWebSearch(tool: JsonObject, path: string, notes: Notes, silent: readonly string[]): HostedTool {
  const { search_context_size, max_uses, allowed_domains, blocked_domains, user_location, filters, ...others } = tool;
  const chosen = maybeObject(filters, `${path}.filters`) ?? {};
  const { allowed_domains: filtered, ...filtersLeft } = chosen;
  for (const [name, value] of Object.entries({ ...others, ...filtersLeft })) {
    if (!silent.includes(name) && value !== null && value !== undefined) notes.drop(`${name} of web_search`);
  }
  const options: SearchOptions = {
    contextSize: maybeText(search_context_size, `${path}.search_context_size`),
    maxUses: maybeInteger(max_uses, `${path}.max_uses`, 1),
    allowedDomains: domainsIn(allowed_domains ?? filtered),
    blockedDomains: domainsIn(blocked_domains),
    place: readPlace(maybeObject(user_location, `${path}.user_location`)),
  };
  return { form: 'web_search', options };
}

function domainsIn(value: JsonValue | undefined): readonly string[] | undefined {
  const domains = textsOf(value);
  return domains.length === 0 ? undefined : domains;
}

/** Chat has it one level deeper. */
function readPlace(location: JsonObject | undefined): SearchPlace | undefined {
  if (location === undefined) return undefined;
  const place = maybeObject(location['approximate'], 'user_location.approximate') ?? location;
  return Object.fromEntries(
    placeNames.flatMap((name) => (asText(place[name]) === '' ? [] : [[name, asText(place[name])]])),
  );
}

/** Notes the options that a format cannot express. @param known those that it can */
export function noteSearchOptions(
  { options = {} }: HostedTool,
  known: readonly (keyof SearchOptions)[],
  notes: Notes,
): void {
  for (const [name, word] of Object.entries(words)) {
    const option = name as keyof SearchOptions;
    if (!known.includes(option) && options[option] !== undefined) notes.drop(`${word} of web_search`);
  }
}

const words: Readonly<Record<keyof SearchOptions, string>> = {
  contextSize: 'search_context_size',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  place: 'user_location',
};

export function writeResponsesSearch(tool: HostedTool, notes: Notes): JsonObject {
  noteSearchOptions(tool, ['contextSize', 'allowedDomains', 'place'], notes);
  const { contextSize, allowedDomains, place } = tool.options ?? {};
  return withoutUnset({
    type: 'web_search',
    search_context_size: contextSize,
    filters: allowedDomains && { allowed_domains: [...allowedDomains] },
    user_location: writePlace(place),
  });
}

export function writeMessagesSearch(tool: HostedTool, notes: Notes): JsonObject {
  noteSearchOptions(tool, ['maxUses', 'allowedDomains', 'blockedDomains', 'place'], notes);
  const { maxUses, allowedDomains, blockedDomains, place } = tool.options ?? {};
  return withoutUnset({
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: maxUses,
    allowed_domains: allowedDomains && [...allowedDomains],
    blocked_domains: blockedDomains && [...blockedDomains],
    user_location: writePlace(place),
  });
}

function writePlace(place: SearchPlace | undefined): JsonObject | undefined {
  return place && { type: 'approximate', ...place };
}
