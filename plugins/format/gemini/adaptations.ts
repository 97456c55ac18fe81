import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import { adaptMedia } from '../pass-through/adapt-media.ts';
import { isSet, mapMembers, without } from '../pass-through/adapt-members.ts';
import { adaptOutput, type OutputWording } from '../pass-through/adapt-output-format.ts';
import { adaptHostedTools } from '../pass-through/adapt-hosted-tools.ts';
import { adaptRefused } from '../pass-through/adapt-refused.ts';
import { adaptForcedTools, adaptTools } from '../pass-through/adapt-tools.ts';
import { type AdaptationTarget, inOrder, type Probe } from '../pass-through/adaptation.ts';
import { member } from '../request/members.ts';
import { adaptGeneration } from './adapt-generation.ts';
import { adaptSchemas } from './adapt-schemas.ts';
import { geminiCodec } from './codec.ts';
import { camelName, fieldsOf, readMany } from './fields.ts';
import { stateKinds, toolNames } from './names.ts';

const probe: Probe = {
  codec: geminiCodec,
  toolNames,
  stateKinds,
  dialogue: { contents: [{ role: 'user', parts: [{ text: '.' }] }] },
};

function freeTools(name: string, config: JsonValue): JsonValue {
  if (camelName(name) !== 'toolConfig' || !isJsonObject(config)) return config;
  return mapMembers(config, (inner, value) => {
    if (camelName(inner) !== 'functionCallingConfig') return value;
    const mode = member(value, 'mode');
    return typeof mode === 'string' && mode.toUpperCase() === 'ANY' ? { mode: 'AUTO' } : value;
  });
}

function hostedSearch(tool: JsonObject, { profile, notes }: AdaptationTarget): JsonObject | undefined {
  if (profile.quirks.hosted_search) return tool;
  const names = Object.keys(tool).filter((name) => camelName(name).startsWith('googleSearch'));
  if (names.length === 0) return tool;
  notes.drop('googleSearch');
  const { length } = Object.keys(tool);
  return length === names.length ? undefined : without(tool, names);
}

const outputWording: OutputWording = {
  find: (body): JsonObject | undefined => {
    const { responseMimeType, ...config } = fieldsOf(fieldsOf(body)['generationConfig']);
    const schemas = Object.entries(config).filter(([name, value]) => isSchema(name) && isSet(value));
    if (!isSet(responseMimeType) && schemas.length === 0) return undefined;
    return { generationConfig: { responseMimeType, ...Object.fromEntries(schemas) } };
  },
  replace: (body, isKnown) => withoutSchemas(body, isKnown),
  instruct: (body, text): JsonObject => {
    const name = isSet(body['system_instruction']) ? 'system_instruction' : 'systemInstruction';
    const { [name]: system } = body;
    const said = isJsonObject(system) ? system : { parts: typeof system === 'string' ? [{ text: system }] : [] };
    return { ...body, [name]: { ...said, parts: [...readMany(said['parts'], `${name}.parts`), { text }] } };
  },
};

function isSchema(name: string): boolean {
  return ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].includes(name);
}

function withoutSchemas(body: JsonObject, isJsonKnown: boolean): JsonObject {
  const name = isSet(body['generationConfig']) ? 'generationConfig' : 'generation_config';
  const { [name]: config } = body;
  if (!isJsonObject(config)) return body;
  const isKept = (one: string) => !isSchema(one) && (isJsonKnown || one !== 'responseMimeType');
  return { ...body, [name]: Object.fromEntries(Object.entries(config).filter(([entry]) => isKept(camelName(entry)))) };
}

/** Adapts a Gemini request to the capabilities and quirks of a route. */
export const adaptGemini = inOrder(
  adaptGeneration,
  adaptMedia(probe, ['contents', 'systemInstruction'], camelName),
  adaptTools(['tools', 'toolConfig', 'tool_config']),
  adaptHostedTools(hostedSearch),
  adaptForcedTools(freeTools),
  adaptSchemas,
  adaptOutput(probe, outputWording),
  adaptRefused(),
);
