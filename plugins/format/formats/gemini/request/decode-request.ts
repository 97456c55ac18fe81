import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Conversation } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { isMissing, maybeText } from '../../../wire/read.ts';
import { camelFields, maybeFields } from '../../../wire/gemini-fields.ts';
import { ContentReader, readInstructions } from './read-contents.ts';
import { readGeneration } from './read-generation.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import type { GeminiRequest } from '../../../wire/gemini.ts';

/** Members that are read. The model is in the path. */
const known = new Set(
  'model contents systemInstruction tools toolConfig generationConfig serviceTier cachedContent'.split(' '),
);

/**
 * Reads a request to generate content. Source: Gemini API reference, "GenerateContent".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: JsonObject, notes: Notes): Conversation {
  const fields: GeminiRequest = camelFields(body);
  refuseCached(fields.cachedContent);
  const instructions = readInstructions(fields.systemInstruction, notes);
  const reader = new ContentReader(notes);
  reader.readContents(fields.contents);
  const tools = readTools(fields.tools, notes);
  notes.dropUnknown(fields, known);
  return {
    instructions,
    items: reader.items,
    tools,
    toolChoice: readToolChoice(fields.toolConfig, tools, notes),
    parallelToolCalls: undefined,
    ...readGeneration(maybeFields(fields.generationConfig, 'generationConfig') ?? {}, notes),
    verbosity: undefined,
    user: undefined,
    cacheKey: undefined,
    serviceTier: readTier(fields.serviceTier),
  };
}

/** It holds a part of the prompt that only Google has. */
function refuseCached(value: JsonValue | undefined): void {
  if (isMissing(value) || value === '') return;
  const message = 'Cached content is not supported. Send the content in the request.';
  throw new GatewayError('not_supported', message, { param: 'cachedContent' });
}

/** By the name that all formats share. */
function readTier(value: JsonValue | undefined): string | undefined {
  const tier = maybeText(value, 'serviceTier')?.toLowerCase().replace('service_tier_', '') || undefined;
  return tier === 'standard' ? 'default' : tier === 'unspecified' ? undefined : tier;
}
