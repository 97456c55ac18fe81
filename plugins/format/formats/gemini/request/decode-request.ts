import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Conversation, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { camelFields, fieldsOf, maybeFields, readWord } from '../../../wire/gemini-fields.ts';
import {
  invalid,
  isMissing,
  maybeBoolean,
  maybeInteger,
  maybeObject,
  maybeText,
  readTexts,
} from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { readSchema } from '../schema/read-schema.ts';
import { geminiParameters, thinkingLevels } from './parameters.ts';
import { ContentReader, readInstructions } from './read-contents.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import type { GeminiRequest, GeminiGeneration, GeminiSchema, GeminiThinking } from '../../../wire/gemini.ts';

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
  const generationConfig: GeminiGeneration = maybeFields(fields.generationConfig, 'generationConfig') ?? {};
  return {
    ...readSettings({ ...fields, generationConfig }, geminiParameters, notes),
    instructions: [...instructions, ...readChoices(generationConfig, notes)],
    items: reader.items,
    tools,
    toolChoice: readToolChoice(fields.toolConfig, tools, notes),
    reasoning: readThinking(generationConfig.thinkingConfig),
    output: readOutput(generationConfig, notes),
  };
}

/** It holds a part of the prompt that only Google has. */
function refuseCached(value: JsonValue | undefined): void {
  if (isMissing(value) || value === '') return;
  const message = 'Cached content is not supported. Send the content in the request.';
  throw new GatewayError('not_supported', message, { param: 'cachedContent' });
}

function at(name: string): string {
  return `generationConfig.${name}`;
}

/** The words among which an answer of the type `text/x.enum` chooses: no other format has it, so the model is told. */
function readChoices({ responseMimeType, responseSchema }: GeminiGeneration, notes: Notes): string[] {
  if (responseMimeType !== 'text/x.enum') return [];
  const words = readTexts(fieldsOf<GeminiSchema>(responseSchema).enum, `${at('responseSchema')}.enum`);
  if (words.length === 0) return [];
  notes.approximate('responseMimeType text/x.enum as instruction');
  return [`Answer with exactly one of these values and nothing else: ${words.join(', ')}`];
}

function readOutput(config: GeminiGeneration, notes: Notes): OutputFormat | undefined {
  const mediaType = maybeText(config.responseMimeType, at('responseMimeType')) || 'text/plain';
  const own = maybeObject(config.responseSchema, at('responseSchema'));
  const jsonSchema =
    maybeObject(config.responseJsonSchema, at('responseJsonSchema')) ??
    maybeObject(config._responseJsonSchema, at('_responseJsonSchema'));
  const schema = jsonSchema ?? (own && readSchema(own));
  if (mediaType === 'application/json' && schema === undefined) return { type: 'json_object' };
  const isOther = mediaType !== 'application/json' && mediaType !== 'text/plain';
  if (isOther && mediaType !== 'text/x.enum') notes.approximate('responseMimeType as text');
  if (schema === undefined || mediaType !== 'application/json') return undefined;
  return { type: 'json_schema', name: undefined, description: undefined, schema, strict: 'fitting' };
}

/**
 * Reads the reasoning that the client wants. A budget of -1 means the model's default, as no budget does.
 *
 * @throws GatewayError `invalid_request`
 */
export function readThinking(value: JsonValue | undefined): ReasoningRequest | undefined {
  const path = at('thinkingConfig');
  const config: GeminiThinking | undefined = maybeFields(value, path);
  if (config === undefined) return undefined;
  const budget = maybeInteger(config.thinkingBudget, `${path}.thinkingBudget`, -1);
  const level = readWord(config.thinkingLevel, `${path}.thinkingLevel`);
  const effort = thinkingLevels.find((one) => one.toUpperCase() === level);
  if (level !== undefined && effort === undefined)
    throw invalid(`${path}.thinkingLevel`, thinkingLevels.join(', ').toUpperCase());
  if (level !== undefined && budget !== undefined)
    throw invalid(`${path}.thinkingBudget`, 'left out when `thinkingLevel` is set');
  const wantsText = maybeBoolean(config.includeThoughts, `${path}.includeThoughts`) ?? false;
  if (budget === 0) return { effort: 'none', budget: undefined, wantsText: false };
  return { effort, budget: budget === -1 ? undefined : budget, wantsText };
}
