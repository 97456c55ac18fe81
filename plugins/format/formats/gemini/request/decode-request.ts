import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Conversation, Effort, OutputFormat, ReasoningRequest } from '../../../canonical/conversation.ts';
import type { Notes } from '../../../canonical/notes.ts';
import {
  isMissing,
  maybeText,
  invalid,
  maybeBoolean,
  maybeInteger,
  maybeNumber,
  maybeObject,
  readTexts,
} from '../../../wire/read.ts';
import { camelFields, fieldsOf, maybeFields, readWord } from '../../../wire/gemini-fields.ts';
import { ContentReader, readInstructions } from './read-contents.ts';
import { readToolChoice, readTools } from './read-tools.ts';
import type { GeminiRequest, GeminiGeneration, GeminiSchema, GeminiThinking } from '../../../wire/gemini.ts';
import { readSchema } from '../schema/read-schema.ts';

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
    instructions: [...instructions, ...readChoices(fields.generationConfig, notes)],
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

type Generation = Pick<
  Conversation,
  'reasoning' | 'output' | 'sampling' | 'maxOutputTokens' | 'stop' | 'candidates' | 'wantsImages'
>;

/** Members that are read. */
const knownOfGeneration = new Set(
  (
    'temperature topP topK candidateCount maxOutputTokens stopSequences seed presencePenalty frequencyPenalty ' +
    'responseMimeType responseSchema responseJsonSchema _responseJsonSchema thinkingConfig responseModalities'
  ).split(' '),
);
const int32 = 2_147_483_648;

/**
 * Reads the generation parameters. Source: Gemini API reference, "GenerationConfig".
 *
 * @throws GatewayError `invalid_request`
 */
function readGeneration(config: GeminiGeneration, notes: Notes): Generation {
  for (const [name, value] of Object.entries(config)) {
    if (!knownOfGeneration.has(name) && !isMissing(value) && value !== false) notes.drop(`generationConfig.${name}`);
  }
  return {
    wantsImages: readModalities(config.responseModalities, notes),
    reasoning: readThinking(config.thinkingConfig),
    output: readOutput(config, notes),
    sampling: {
      temperature: maybeNumber(config.temperature, at('temperature'), 0, 2),
      topP: maybeNumber(config.topP, at('topP'), 0, 1),
      topK: maybeInteger(config.topK, at('topK')),
      presencePenalty: maybeNumber(config.presencePenalty, at('presencePenalty'), -2, 2),
      frequencyPenalty: maybeNumber(config.frequencyPenalty, at('frequencyPenalty'), -2, 2),
      seed: maybeInteger(config.seed, at('seed'), -int32, int32),
    },
    maxOutputTokens: maybeInteger(config.maxOutputTokens, at('maxOutputTokens'), 1),
    stop: readTexts(config.stopSequences, at('stopSequences')).filter((sequence) => sequence !== ''),
    candidates: maybeInteger(config.candidateCount, at('candidateCount'), 1, 8) ?? 1,
  };
}

function at(name: string): string {
  return `generationConfig.${name}`;
}

/** True when images are among the wanted kinds of output. Any other besides text is noted. */
function readModalities(value: JsonValue | undefined, notes: Notes): true | undefined {
  const wanted = readTexts(value, at('responseModalities')).map((modality) => modality.toUpperCase());
  if (wanted.some(isForeign)) notes.drop('generationConfig.responseModalities');
  return wanted.includes('IMAGE') || undefined;
}

function isForeign(modality: string): boolean {
  return modality !== 'TEXT' && modality !== 'IMAGE' && !modality.endsWith('UNSPECIFIED');
}

/** The words among which an answer of the type `text/x.enum` chooses: no other format has it, so the model is told. */
function readChoices(value: JsonValue | undefined, notes: Notes): string[] {
  const { responseMimeType, responseSchema }: GeminiGeneration = maybeFields(value, 'generationConfig') ?? {};
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

const levels = new Map<string, Effort>([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
]);

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
  const effort = level === undefined ? undefined : levels.get(level);
  if (level !== undefined && effort === undefined)
    throw invalid(`${path}.thinkingLevel`, [...levels.keys()].join(', '));
  if (level !== undefined && budget !== undefined)
    throw invalid(`${path}.thinkingBudget`, 'left out when `thinkingLevel` is set');
  const wantsText = maybeBoolean(config.includeThoughts, `${path}.includeThoughts`) ?? false;
  if (budget === 0) return { effort: 'none', budget: undefined, wantsText: false };
  return { effort, budget: budget === -1 ? undefined : budget, wantsText };
}
