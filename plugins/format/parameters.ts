import { GatewayError } from '#core/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/json.ts';

/** Says what a value has to be; undefined when it is that. */
type Rule = (value: JsonValue) => string | undefined;
interface Parameter {
  readonly name: string;
  /** The names of the members that lead to it. */
  readonly path: readonly string[];
  readonly rule: Rule;
}
/** In the order in which mistakes are told. */
export type ParameterRules = readonly Parameter[];

/** @param rules by the path of a parameter, `generationConfig.temperature` for instance */
function parameters(rules: Readonly<Record<string, Rule>>): ParameterRules {
  return Object.entries(rules).map(([name, rule]) => ({ name, path: name.split('.'), rule }));
}

const boolean: Rule = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const text: Rule = (value) => (typeof value === 'string' ? undefined : 'a string');
const list: Rule = (value) => (Array.isArray(value) && value.length > 0 ? undefined : 'a list with at least one entry');
const anyList: Rule = (value) => (Array.isArray(value) ? undefined : 'a list');
const textOrList: Rule = (value) =>
  typeof value === 'string' || Array.isArray(value) ? undefined : 'a string or a list';
const textOrObject: Rule = (value) =>
  typeof value === 'string' || isJsonObject(value) ? undefined : 'a string or an object';
const object: Rule = (value) => (isJsonObject(value) ? undefined : 'an object');

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

/**
 * The parameters whose mistakes are the caller's for certain. Everything else, known or not, is the upstream's to judge:
 * vendors add fields faster than gateways learn them. Bounds are the published ones.
 */
export const chatParameters = parameters({
  messages: list,
  stream: boolean,
  stream_options: object,
  n: integer(1, 128),
  max_tokens: integer(1),
  max_completion_tokens: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  stop: textOrList,
  tools: anyList,
  tool_choice: textOrObject,
  parallel_tool_calls: boolean,
  response_format: object,
  store: boolean,
  metadata: object,
});

/** Source: OpenAI API reference, "Create a model response". */
export const responsesParameters = parameters({
  input: textOrList,
  instructions: text,
  stream: boolean,
  max_output_tokens: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  tools: anyList,
  tool_choice: textOrObject,
  parallel_tool_calls: boolean,
  text: object,
  reasoning: object,
  include: anyList,
  truncation: text,
  background: boolean,
  store: boolean,
  metadata: object,
  previous_response_id: text,
});

export const messagesParameters = parameters({
  messages: list,
  stream: boolean,
  system: textOrList,
  max_tokens: integer(1),
  temperature: number(0, 1),
  top_p: number(0, 1),
  top_k: integer(0),
  stop_sequences: anyList,
  tools: anyList,
  tool_choice: object,
  thinking: object,
  output_config: object,
  metadata: object,
});

export const geminiParameters = parameters({
  contents: list,
  tools: anyList,
  toolConfig: object,
  generationConfig: object,
  'generationConfig.temperature': number(0, 2),
  'generationConfig.topP': number(0, 1),
  'generationConfig.maxOutputTokens': integer(1),
  'generationConfig.candidateCount': integer(1, 8),
  'generationConfig.stopSequences': textOrList,
  'generationConfig.thinkingConfig': object,
  systemInstruction: textOrObject,
});

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
    if (isMissing(body[name]))
      throw wrong(name, 'is missing', rules.find((parameter) => parameter.name === name)?.rule(null));
  }
  for (const { name, path, rule } of rules) {
    const value = valueAt(body, path);
    const right = isMissing(value) ? undefined : rule(value);
    if (right !== undefined) throw wrong(name, 'is wrong', right);
  }
}

function isMissing(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function valueAt(body: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

function wrong(name: string, what: string, right: string | undefined): GatewayError {
  return new GatewayError('invalid_request', `${name} ${what}; it has to be ${right ?? 'there'}`, { param: name });
}
