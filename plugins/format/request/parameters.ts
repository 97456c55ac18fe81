import { GatewayError } from '#core/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** What is wrong with a value: what it has to be, and where in it the mistake is: `[2]` for instance. */
interface Fault {
  readonly at: string;
  readonly right: string;
}
/** Says what a value, or something in it, has to be; undefined when it is that. */
type Rule = (value: JsonValue) => string | Fault | undefined;
interface Parameter {
  readonly name: string;
  /** Its place among the rules: mistakes are told in their order. */
  readonly order: number;
  /** Below the top level, the spellings of each member that leads to it. */
  readonly inner: readonly (readonly string[])[];
  readonly rule: Rule;
}

/** Found by what a body has, which is less than what it may have. */
export interface ParameterRules {
  readonly all: readonly Parameter[];
  readonly byMember: ReadonlyMap<string, readonly Parameter[]>;
}

/**
 * @param rules by the path of a parameter, `generationConfig.temperature` for instance
 * @param spellingsOf the names that a member may have
 */
function parameters(
  rules: Readonly<Record<string, Rule>>,
  spellingsOf: (name: string) => readonly string[] = (name) => [name],
): ParameterRules {
  const byMember = new Map<string, Parameter[]>();
  const all = Object.entries(rules).map(([name, rule], order) => {
    const [outer = [], ...inner] = name.split('.').map(spellingsOf);
    const parameter = { name, order, inner, rule };
    for (const spelling of outer) byMember.set(spelling, [...(byMember.get(spelling) ?? []), parameter]);
    return parameter;
  });
  return { all, byMember };
}

/** Protobuf takes camelCase and snake_case. */
function bothCases(name: string): readonly string[] {
  return [...new Set([name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])];
}

const boolean: Rule = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const text: Rule = (value) => (typeof value === 'string' ? undefined : 'a string');
const textOrObject: Rule = (value) =>
  typeof value === 'string' || isJsonObject(value) ? undefined : 'a string or an object';
const object: Rule = (value) => (isJsonObject(value) ? undefined : 'an object');

const word =
  (words: readonly string[], right: string): Rule =>
  (value) =>
    typeof value === 'string' && words.includes(value) ? undefined : right;

/** A list whose entries are right; what is wrong with one is told with its index. */
const listOf =
  (entry: Rule): Rule =>
  (value) => {
    if (!Array.isArray(value)) return 'a list';
    for (let index = 0; index < value.length; index++) {
      const fault = entry(value[index] as JsonValue);
      if (typeof fault === 'string') return { at: `[${index}]`, right: fault };
    }
    return undefined;
  };
const objects = listOf(object);
const texts = listOf(text);

const someObjects: Rule = (value) =>
  Array.isArray(value) && value.length > 0 ? objects(value) : 'a list with at least one entry';

const textOr =
  (list: Rule): Rule =>
  (value) => {
    if (typeof value === 'string') return undefined;
    return Array.isArray(value) ? list(value) : 'a string or a list';
  };

const number =
  (minimum: number, maximum: number): Rule =>
  (value) =>
    typeof value === 'number' && value >= minimum && value <= maximum
      ? undefined
      : `a number from ${minimum} to ${maximum}`;

const integer =
  (minimum: number, maximum = 1_000_000_000): Rule =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
      ? undefined
      : `an integer from ${minimum} to ${maximum}`;

/** 64 bits, as in the reference. */
const seed = integer(-(2 ** 63), 2 ** 63);

/**
 * The parameters whose mistakes are the caller's for certain. Everything else, known or not, is the upstream's to judge:
 * vendors add fields faster than gateways learn them. Bounds are the published ones.
 */
export const chatParameters = parameters({
  messages: someObjects,
  stream: boolean,
  stream_options: object,
  'stream_options.include_usage': boolean,
  n: integer(1, 128),
  max_tokens: integer(1),
  max_completion_tokens: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  seed,
  stop: textOr(texts),
  tools: objects,
  functions: objects,
  tool_choice: textOrObject,
  parallel_tool_calls: boolean,
  reasoning_effort: text,
  response_format: object,
  // The last two are what vLLM and SGLang, and Fireworks, have besides.
  'response_format.type': word(
    ['text', 'json_object', 'json_schema', 'structural_tag', 'grammar'],
    'text, json_object or json_schema',
  ),
  logit_bias: object,
  logprobs: boolean,
  // vLLM takes -1 for all.
  top_logprobs: integer(-1),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
  store: boolean,
  metadata: object,
});

/** Source: OpenAI API reference, "Create a model response". */
export const responsesParameters = parameters({
  input: textOr(objects),
  instructions: text,
  stream: boolean,
  max_output_tokens: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  tools: objects,
  tool_choice: textOrObject,
  parallel_tool_calls: boolean,
  text: object,
  'text.format': object,
  reasoning: object,
  'reasoning.effort': text,
  include: texts,
  truncation: text,
  background: boolean,
  store: boolean,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
  metadata: object,
  previous_response_id: text,
});

export const messagesParameters = parameters({
  messages: someObjects,
  stream: boolean,
  system: textOr(objects),
  max_tokens: integer(1),
  temperature: number(0, 1),
  top_p: number(0, 1),
  top_k: integer(0),
  stop_sequences: texts,
  tools: objects,
  tool_choice: object,
  thinking: object,
  'thinking.type': word(
    ['enabled', 'adaptive', 'between_tools', 'disabled'],
    'enabled, adaptive, between_tools or disabled',
  ),
  output_config: object,
  'output_config.effort': text,
  metadata: object,
  'metadata.user_id': text,
  service_tier: text,
});

export const geminiParameters = parameters(
  {
    contents: someObjects,
    tools: objects,
    toolConfig: object,
    generationConfig: object,
    'generationConfig.temperature': number(0, 2),
    'generationConfig.topP': number(0, 1),
    'generationConfig.topK': integer(0),
    'generationConfig.maxOutputTokens': integer(1),
    'generationConfig.candidateCount': integer(1, 8),
    'generationConfig.stopSequences': textOr(texts),
    'generationConfig.presencePenalty': number(-2, 2),
    'generationConfig.frequencyPenalty': number(-2, 2),
    'generationConfig.seed': integer(-(2 ** 31), 2 ** 31),
    'generationConfig.responseMimeType': text,
    'generationConfig.thinkingConfig': object,
    systemInstruction: textOrObject,
  },
  bothCases,
);

export const imagesParameters = parameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });

/** Parameters that a request cannot do without, by endpoint. */
export const requiredParameters: Readonly<Record<string, readonly string[]>> = {
  chat: ['messages'],
  messages: ['messages', 'max_tokens'],
  count_tokens: ['messages'],
  generate_content: ['contents'],
  stream_generate_content: ['contents'],
  images: ['prompt'],
};

/** @throws GatewayError `invalid_request` naming the first parameter that is wrong */
export function checkParameters(body: JsonObject, rules: ParameterRules, required: readonly string[]): void {
  for (const name of required) {
    if (isMissing(body[name])) throw wrong(name, 'is missing', missingRight(name, rules));
  }
  let first: { readonly order: number; readonly error: GatewayError } | undefined;
  for (const member of Object.keys(body)) {
    for (const { name, order, inner, rule } of rules.byMember.get(member) ?? []) {
      const value = inner.length === 0 ? body[member] : valueAt(body[member], inner);
      const fault = isMissing(value) ? undefined : rule(value);
      if (fault === undefined || (first !== undefined && first.order < order)) continue;
      const { at, right } = typeof fault === 'string' ? { at: '', right: fault } : fault;
      first = { order, error: wrong(name + at, 'is wrong', right) };
    }
  }
  if (first !== undefined) throw first.error;
}

function missingRight(name: string, { all }: ParameterRules): string | undefined {
  const right = all.find((parameter) => parameter.name === name)?.rule(null);
  return typeof right === 'string' ? right : undefined;
}

function isMissing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function valueAt(outer: JsonValue | undefined, inner: Parameter['inner']): JsonValue | undefined {
  let value = outer;
  for (const spellings of inner) value = isJsonObject(value) ? ownMember(value, spellings) : undefined;
  return value;
}

/** Under the first of the names that it has. */
function ownMember(value: JsonObject, spellings: readonly string[]): JsonValue | undefined {
  for (const name of spellings) if (Object.hasOwn(value, name)) return value[name];
  return undefined;
}

function wrong(name: string, what: string, right: string | undefined): GatewayError {
  return new GatewayError('invalid_request', `${name} ${what}; it has to be ${right ?? 'there'}`, { param: name });
}
