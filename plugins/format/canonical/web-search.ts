import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { asText, listTexts, withoutUndefined } from '../wire/members.ts';
import { BodyObject } from '../wire/read.ts';
import type { HostedTool, SearchOptions, SearchLocation } from './conversation.ts';
import type { Notes } from './notes.ts';

const locationMembers = ['city', 'country', 'region', 'timezone'] as const;

const supportedMembers: ReadonlySet<string> = new Set([
  'search_context_size',
  'max_uses',
  'allowed_domains',
  'blocked_domains',
  'user_location',
  'filters',
]);

/**
 * Reads a web search tool in any format. Notes unknown members, except those listed in `ignored`.
 *
 * @param ignored members that do not affect the search
 * @throws GatewayError `invalid_request`
 */
export function readWebSearch(tool: BodyObject, notes: Notes, ignored: readonly string[]): HostedTool {
  const { allowed_domains, blocked_domains } = tool.value;
  const { allowed_domains: filteredDomains, ...otherFilters } = tool.maybeObject('filters')?.value ?? {};
  const otherMembers = Object.entries(tool.value).filter(([name]) => !supportedMembers.has(name));
  for (const [name, value] of [...otherMembers, ...Object.entries(otherFilters)]) {
    if (!ignored.includes(name) && value !== null && value !== undefined) notes.drop(`${name} of web_search`);
  }
  const options: SearchOptions = {
    contextSize: tool.maybeText('search_context_size'),
    maxUses: tool.maybeInteger('max_uses', 1),
    allowedDomains: readDomains(allowed_domains ?? filteredDomains),
    blockedDomains: readDomains(blocked_domains),
    location: readLocation(tool.maybeObject('user_location')?.value),
  };
  return { form: 'web_search', options };
}

function readDomains(value: JsonValue | undefined): readonly string[] | undefined {
  const domains = listTexts(value);
  return domains.length === 0 ? undefined : domains;
}

function readLocation(location: JsonObject | undefined): SearchLocation | undefined {
  if (location === undefined) return undefined;
  // Chat nests the location in `approximate`.
  const fields = new BodyObject(location, 'user_location').maybeObject('approximate')?.value ?? location;
  return Object.fromEntries(
    locationMembers.flatMap((name) => (asText(fields[name]) === '' ? [] : [[name, asText(fields[name])]])),
  );
}

const parameterNames: Readonly<Record<keyof SearchOptions, string>> = {
  contextSize: 'search_context_size',
  maxUses: 'max_uses',
  allowedDomains: 'allowed_domains',
  blockedDomains: 'blocked_domains',
  location: 'user_location',
};

export function noteSearchOptions(
  { options = {} }: HostedTool,
  supported: readonly (keyof SearchOptions)[],
  notes: Notes,
): void {
  for (const [name, parameter] of Object.entries(parameterNames)) {
    const option = name as keyof SearchOptions;
    if (!supported.includes(option) && options[option] !== undefined) notes.drop(`${parameter} of web_search`);
  }
}

export function writeResponsesSearchTool(tool: HostedTool, notes: Notes): JsonObject {
  noteSearchOptions(tool, ['contextSize', 'allowedDomains', 'location'], notes);
  const { contextSize, allowedDomains, location } = tool.options ?? {};
  return withoutUndefined({
    type: 'web_search',
    search_context_size: contextSize,
    filters: allowedDomains && { allowed_domains: [...allowedDomains] },
    user_location: writeLocation(location),
  });
}

export function writeMessagesSearchTool(tool: HostedTool, notes: Notes): JsonObject {
  noteSearchOptions(tool, ['maxUses', 'allowedDomains', 'blockedDomains', 'location'], notes);
  const { maxUses, allowedDomains, blockedDomains, location } = tool.options ?? {};
  return withoutUndefined({
    type: 'web_search_20250305',
    name: 'web_search',
    max_uses: maxUses,
    allowed_domains: allowedDomains && [...allowedDomains],
    blocked_domains: blockedDomains && [...blockedDomains],
    user_location: writeLocation(location),
  });
}

function writeLocation(location: SearchLocation | undefined): JsonObject | undefined {
  return location && { type: 'approximate', ...location };
}
