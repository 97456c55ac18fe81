import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { toCamelCase, asGenerationConfig, readList } from '../../wire/gemini-fields.ts';
import type {
  GeminiFunctionCallingConfig,
  GeminiContent,
  GeminiRequest,
  GeminiSchema,
  GeminiTool,
} from '../../wire/gemini.ts';
import { readMember } from '../../wire/members.ts';
import { BodyObject } from '../../wire/read.ts';
import { adaptMedia } from '../adaptation/adapt-media.ts';
import { mapEntries, mapMembers, isSet, omitMembers } from '../adaptation/adapt-members.ts';
import { adaptOutput, type OutputFormatEditor } from '../adaptation/adapt-parameters.ts';
import { adaptRefused } from '../adaptation/adapt-refused.ts';
import { adaptHostedTools, adaptForcedTools, adaptToolMembers } from '../adaptation/adapt-tools.ts';
import { type Adaptation, type AdaptationTarget, chainAdaptations } from '../contract/adaptation.ts';
import { adaptGeneration } from './adapt-generation.ts';
import { geminiCodec } from './codec.ts';
import { cleanSchema } from './schema/clean-schema.ts';

/** Members with a JSON Schema, and those that hold the same schema in Google's OpenAPI subset. */
const subsetMembers: ReadonlyMap<string, string> = new Map([
  ['parametersJsonSchema', 'parameters'],
  ['responseJsonSchema', 'responseSchema'],
  ['_responseJsonSchema', 'responseSchema'],
]);
const schemaHolders: ReadonlySet<string> = new Set(['tools', 'functionDeclarations', 'generationConfig']);

const adaptSchemas: Adaptation = (body, { profile, notes }) =>
  profile.quirks.tool_schema === 'subset' ? translateSchemas(body, notes) : body;

function translateSchemas(object: JsonObject, notes: Notes): JsonObject {
  const translatedObject = mapMembers(object, (name, value) =>
    schemaHolders.has(toCamelCase(name)) ? translateInside(value, notes) : value,
  );
  if (!Object.keys(translatedObject).some((name) => subsetMembers.has(toCamelCase(name)))) return translatedObject;
  const members = Object.entries(translatedObject).flatMap(([name, value]) => {
    const subset = subsetMembers.get(toCamelCase(name));
    if (subset === undefined || !isJsonObject(value)) return [[name, value] as const];
    const schema: GeminiSchema = cleanSchema(value, notes);
    // Google rejects the schema of an object without properties.
    return schema.type === 'object' && schema.properties === undefined ? [] : [[subset, schema] as const];
  });
  return Object.fromEntries(members);
}

function translateInside(value: JsonValue, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => translateInside(entry, notes));
  return isJsonObject(value) ? translateSchemas(value, notes) : value;
}

function relaxToolConfig(name: string, config: JsonValue): JsonValue {
  if (toCamelCase(name) !== 'toolConfig' || !isJsonObject(config)) return config;
  return mapMembers(config, (inner, value) => {
    if (toCamelCase(inner) !== 'functionCallingConfig') return value;
    const mode = readMember<GeminiFunctionCallingConfig>(value, 'mode');
    return typeof mode === 'string' && mode.toUpperCase() === 'ANY' ? { mode: 'AUTO' } : value;
  });
}

function removeHostedSearch(tool: JsonObject, { profile, notes }: AdaptationTarget): GeminiTool | undefined {
  if (profile.quirks.hosted_search) return tool;
  const names = Object.keys(tool).filter((name) => toCamelCase(name).startsWith('googleSearch'));
  if (names.length === 0) return tool;
  notes.drop('googleSearch');
  return Object.keys(tool).length === names.length ? undefined : omitMembers(tool, names);
}

const outputEditor: OutputFormatEditor = {
  find: (body): JsonObject | undefined => {
    const { responseMimeType, ...config } = asGenerationConfig(body);
    const schemas = Object.entries(config).filter(([name, value]) => isSchema(name) && isSet(value));
    if (!isSet(responseMimeType) && schemas.length === 0) return undefined;
    return { generationConfig: { responseMimeType, ...Object.fromEntries(schemas) } };
  },
  replace: removeSchemas,
  instruct: (body, text): JsonObject => {
    const name = isSet(readMember<GeminiRequest>(body, 'system_instruction'))
      ? 'system_instruction'
      : 'systemInstruction';
    const { [name]: system } = body;
    const instructions: GeminiContent = isJsonObject(system)
      ? system
      : { parts: typeof system === 'string' ? [{ text: system }] : [] };
    return {
      ...body,
      [name]: { ...instructions, parts: [...readList(new BodyObject(instructions, name), 'parts'), { text }] },
    };
  },
};

function isSchema(name: string): boolean {
  return ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].includes(name);
}

function removeSchemas(body: JsonObject, supportsJson: boolean): JsonObject {
  const name = isSet(readMember<GeminiRequest>(body, 'generationConfig')) ? 'generationConfig' : 'generation_config';
  const { [name]: config } = body;
  if (!isJsonObject(config)) return body;
  const remainingMembers = Object.entries(config).filter(([spelling]) => {
    const inner = toCamelCase(spelling);
    return !isSchema(inner) && (supportsJson || inner !== 'responseMimeType');
  });
  return { ...body, [name]: Object.fromEntries(remainingMembers) };
}

export const adaptGemini = chainAdaptations(
  adaptGeneration,
  adaptMedia(geminiCodec, ['contents', 'systemInstruction'], toCamelCase),
  adaptToolMembers({ names: ['tools', 'toolConfig', 'tool_config'] }),
  adaptHostedTools(removeHostedSearch),
  adaptForcedTools(relaxToolConfig),
  adaptSchemas,
  adaptOutput(geminiCodec, outputEditor),
  adaptRefused(),
);
