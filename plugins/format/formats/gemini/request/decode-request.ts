import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { Conversation, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import { renameToCamelCase, asCamelObject, readFieldsIfPresent, readEnum } from '../../../wire/gemini-fields.ts';
import type {
  GeminiRequest,
  GeminiGenerationConfig,
  GeminiSchema,
  GeminiThinkingConfig,
} from '../../../wire/gemini.ts';
import { invalidValue, isMissing, BodyObject } from '../../../wire/read.ts';
import { readSettings } from '../../contract/settings.ts';
import { readSchema } from '../schema/read-schema.ts';
import { geminiParameters, thinkingLevels } from './parameters.ts';
import { ContentReader, readInstructions } from './read-contents.ts';
import { readToolChoice, readTools } from './read-tools.ts';

/**
 * Reads a request to generate content. Source: Gemini API reference, "GenerateContent".
 *
 * @throws GatewayError `invalid_request`, `not_supported`
 */
export function decodeRequest(body: JsonObject, notes: Notes): Conversation {
  const request = new BodyObject<GeminiRequest>(renameToCamelCase(body));
  rejectCachedContent(request.value);
  const instructions = readInstructions(request, notes);
  const reader = new ContentReader(notes);
  reader.readContents(request);
  const tools = readTools(request, notes);
  const config = readGenerationConfig(request);
  const settings = { ...request.value, generationConfig: config.value };
  return {
    ...readSettings(settings, geminiParameters, notes),
    instructions: [...instructions, ...readEnumInstruction(config, notes)],
    items: reader.items,
    tools,
    toolChoice: readToolChoice(request, tools, notes),
    reasoning: readThinking(config),
    output: readOutput(config, notes),
  };
}

function rejectCachedContent({ cachedContent: value }: GeminiRequest): void {
  if (isMissing(value) || value === '') return;
  // `cachedContent` refers to a part of the prompt that only Google has.
  const message = 'Cached content is not supported. Send the content in the request.';
  throw new GatewayError('not_supported', message, { param: 'cachedContent' });
}

function readGenerationConfig(request: BodyObject<GeminiRequest>): BodyObject<GeminiGenerationConfig> {
  const config = readFieldsIfPresent<GeminiGenerationConfig, GeminiRequest>(request, 'generationConfig');
  return config ?? new BodyObject<GeminiGenerationConfig>({}, request.pathOf('generationConfig'));
}

function readEnumInstruction(config: BodyObject<GeminiGenerationConfig>, notes: Notes): string[] {
  const { responseMimeType, responseSchema } = config.value;
  // No other format has this output type.
  if (responseMimeType !== 'text/x.enum') return [];
  const values = new BodyObject(asCamelObject<GeminiSchema>(responseSchema), config.pathOf('responseSchema')).texts(
    'enum',
  );
  if (values.length === 0) return [];
  notes.approximate('responseMimeType text/x.enum as instruction');
  return [`Answer with exactly one of these values and nothing else: ${values.join(', ')}`];
}

function readOutput(config: BodyObject<GeminiGenerationConfig>, notes: Notes): OutputFormat | undefined {
  const mediaType = config.maybeText('responseMimeType') || 'text/plain';
  const subsetSchema = config.maybeObject('responseSchema');
  const jsonSchema = config.maybeObject('responseJsonSchema') ?? config.maybeObject('_responseJsonSchema');
  const schema = jsonSchema?.value ?? (subsetSchema && readSchema(subsetSchema.value));
  if (mediaType !== 'application/json') {
    if (!['text/plain', 'text/x.enum'].includes(mediaType)) notes.approximate('responseMimeType as text');
    return undefined;
  }
  if (schema === undefined) return { type: 'json_object' };
  return { type: 'json_schema', name: undefined, description: undefined, schema, strict: 'fitting' };
}

/**
 * A budget of -1 or a missing budget means the model's default.
 *
 * @throws GatewayError `invalid_request`
 */
export function readThinking(generation: BodyObject<GeminiGenerationConfig>): ReasoningRequest | undefined {
  const config = readFieldsIfPresent<GeminiThinkingConfig, GeminiGenerationConfig>(generation, 'thinkingConfig');
  if (config === undefined) return undefined;
  const budget = config.maybeInteger('thinkingBudget', -1);
  const level = readEnum(config, 'thinkingLevel');
  const effort = thinkingLevels.find((thinkingLevel) => thinkingLevel.toUpperCase() === level);
  if (level !== undefined && effort === undefined)
    throw invalidValue(config.pathOf('thinkingLevel'), thinkingLevels.join(', ').toUpperCase());
  if (level !== undefined && budget !== undefined)
    throw invalidValue(config.pathOf('thinkingBudget'), 'omitted when `thinkingLevel` is set');
  const wantsText = config.maybeBoolean('includeThoughts') ?? false;
  if (budget === 0) return { effort: 'none', budget: undefined, wantsText: false };
  return { effort, budget: budget === -1 ? undefined : budget, wantsText };
}
