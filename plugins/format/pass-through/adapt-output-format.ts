import type { TextFormat } from '#core/catalog/formats.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';
import type { Traits } from '#core/catalog/traits.ts';
import { Notes } from '../canonical/notes.ts';
import { instructionFor } from '../canonical/write-output-format.ts';
import { camelName, fieldsOf, readMany } from '../gemini/fields.ts';
import { member } from '../request/members.ts';
import { isSaid, unlessEmpty, without, withMember } from './adapt-members.ts';
import { readMembers, type SwitchTarget } from './adaptation-probe.ts';

/** How a format asks for JSON. */
interface Wording {
  /** The members that ask for it; undefined when none does. */
  find(body: JsonObject): JsonObject | undefined;
  /** The body without them, or with what asks for any object. */
  replace(body: JsonObject, isObjectKnown: boolean): JsonObject;
  /** The body with one more instruction. */
  instruct(body: JsonObject, text: string, traits: Traits): JsonObject;
}

const anyObject = { type: 'json_object' } as const;

const wordings: Readonly<Record<TextFormat, Wording>> = {
  chat: {
    find: ({ response_format }) => (isSaid(response_format) ? { response_format } : undefined),
    replace: (body, isKnown) => withMember(body, 'response_format', isKnown ? anyObject : undefined),
    instruct: (body, text, traits) => ({
      ...body,
      messages: instructMessages(asList(body['messages']), text, traits.parameters.system_role),
    }),
  },
  responses: {
    find: ({ text }) => (isSaid(member(text, 'format')) ? { text: { format: member(text, 'format') } } : undefined),
    replace: (body, isKnown) =>
      withMember(body, 'text', changed(body['text'], 'format', isKnown ? anyObject : undefined)),
    instruct: (body, text) => {
      const { input } = body;
      const said = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : asList(input);
      // As an instruction it would not count for OpenAI, which insists on the word JSON in the input.
      return { ...body, input: [{ type: 'message', role: 'developer', content: text }, ...said] };
    },
  },
  messages: {
    find: ({ output_config, output_format }) => {
      const format = member(output_config, 'format');
      if (isSaid(format)) return { output_config: { format } };
      return isSaid(output_format) ? { output_format } : undefined;
    },
    replace: (body) =>
      withMember(
        without(body, ['output_format']),
        'output_config',
        changed(body['output_config'], 'format', undefined),
      ),
    instruct: (body, text) => ({ ...body, system: instructedText(body['system'], text) }),
  },
  gemini: {
    find: (body) => {
      const { responseMimeType, ...config } = fieldsOf(fieldsOf(body)['generationConfig']);
      const schemas = Object.entries(config).filter(([name, value]) => isSchema(name) && isSaid(value));
      if (!isSaid(responseMimeType) && schemas.length === 0) return undefined;
      return { generationConfig: { responseMimeType, ...Object.fromEntries(schemas) } };
    },
    replace: (body, isKnown) => withoutSchemas(body, isKnown),
    instruct: (body, text) => {
      const name = isSaid(body['system_instruction']) ? 'system_instruction' : 'systemInstruction';
      const { [name]: system } = body;
      const said = isJsonObject(system) ? system : { parts: typeof system === 'string' ? [{ text: system }] : [] };
      return { ...body, [name]: { ...said, parts: [...readMany(said['parts'], `${name}.parts`), { text }] } };
    },
  },
};

/**
 * Asks for JSON as well as the model can be asked: what it does not know as a parameter is said in words.
 *
 * @throws GatewayError `invalid_request`
 */
export function switchOutput(format: TextFormat, body: JsonObject, { traits, notes }: SwitchTarget): JsonObject {
  const known = traits.capabilities.structured_output;
  if (known === 'schema') return body;
  const { find, replace, instruct } = wordings[format];
  const asked = find(body);
  if (asked === undefined) return body;
  const { output } = readMembers(format, asked, new Notes());
  if (output === undefined || (output.type === 'json_object' && known === 'object')) return body;
  notes.approximate(`${output.type} as instruction`);
  return instruct(replace(body, known === 'object'), instructionFor(output), traits);
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** An object with another value of a member; undefined when nothing is left of it. */
function changed(object: JsonValue | undefined, name: string, value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(object) ? unlessEmpty(withMember(object, name, value)) : object;
}

/** Behind what is instructed already, so that the beginning of the prompt stays the same. */
function instructMessages(messages: readonly JsonValue[], text: string, role: string): JsonValue[] {
  const [first, ...rest] = messages;
  const isInstructed = isJsonObject(first) && (first['role'] === 'system' || first['role'] === 'developer');
  if (!isInstructed) return [{ role, content: text }, ...messages];
  return [{ ...first, content: instructedText(first['content'], text) }, ...rest];
}

function instructedText(said: JsonValue | undefined, text: string): JsonValue {
  if (Array.isArray(said)) return [...said, { type: 'text', text }];
  return typeof said === 'string' && said.trim() !== '' ? `${said}\n\n${text}` : text;
}

function isSchema(name: string): boolean {
  return ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].includes(name);
}

function withoutSchemas(body: JsonObject, isJsonKnown: boolean): JsonObject {
  const name = isSaid(body['generationConfig']) ? 'generationConfig' : 'generation_config';
  const { [name]: config } = body;
  if (!isJsonObject(config)) return body;
  const isKept = (one: string) => !isSchema(one) && (isJsonKnown || one !== 'responseMimeType');
  return { ...body, [name]: Object.fromEntries(Object.entries(config).filter(([entry]) => isKept(camelName(entry)))) };
}
