import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

interface Hints {
  readonly text: string;
  readonly strings: readonly string[];
  readonly numbers: readonly number[];
}

const plainDepth = 5; // below this depth, only required members are created, because schemas may be recursive
const maxDepth = 40;
const maxSteps = 5_000; // subschemas to resolve; a short schema can expand to millions
const maxStringLength = 1_000;
const maxItems = 100;
const maxChoices = 100;

const formatSamples: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'demo@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

export function findHints(text: string): Hints {
  const quotePattern = /["“`]([^"“”`\n]{1,80})["”`]/g;
  const quotedTexts = text.matchAll(quotePattern).map((match) => match[1] as string);
  const unquotedText = text.replaceAll(quotePattern, '');
  const names = unquotedText.matchAll(/(?<=[\p{Ll}\d,;:]\s|=)\p{Lu}\p{L}+(?:\s\p{Lu}\p{L}+)*/gu).map(([name]) => name);
  const numbers = unquotedText
    .matchAll(/(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?![\w.]*\w)/g)
    .map(([number]) => Number(number));
  return { text, strings: [...new Set([...quotedTexts, ...names])], numbers: [...numbers] };
}

/** Ignores `pattern`, `not` and `if`. `turn` counts earlier samples of this schema; each turn uses different hints. */
export function createSample(schema: JsonObject, hints: Hints, turn = 0): JsonValue {
  return new Sampler(schema, hints, turn).sample(schema, 0);
}

class Sampler {
  readonly #root: JsonObject;
  readonly #hints: Hints;
  #turn: number;
  #stepsLeft = maxSteps;

  constructor(root: JsonObject, hints: Hints, turn: number) {
    this.#root = root;
    this.#hints = hints;
    this.#turn = turn;
  }

  sample(input: JsonValue | undefined, depth: number): JsonValue {
    const schema = this.#resolve(input, depth);
    if (this.#stepsLeft <= 0) return null;
    if (schema['const'] !== undefined) return schema['const'];
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return this.#choose(schema['enum']);
    switch (findType(schema)) {
      case 'object':
        return this.#sampleObject(schema, depth);
      case 'array':
        return this.#sampleArray(schema, depth);
      case 'string':
        return this.#sampleString(schema);
      case 'integer':
      case 'number':
        return this.#sampleNumber(schema);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  #resolve(input: JsonValue | undefined, depth: number): JsonObject {
    if (depth > maxDepth) return { type: 'null' };
    this.#stepsLeft--;
    if (this.#stepsLeft <= 0) return { type: 'null' };
    if (!isJsonObject(input)) return {};
    const { $ref: reference, allOf, anyOf, oneOf, ...members } = input;
    const options = [anyOf, oneOf].filter(Array.isArray).map((list) => list.find(isNotNull) ?? list[0]);
    const target = typeof reference === 'string' ? [this.#follow(reference)] : [];
    const parts = [...target, ...(Array.isArray(allOf) ? allOf : []), ...options];
    return parts.map((part) => this.#resolve(part, depth + 1)).reduce(mergeSchemas, members);
  }

  #follow(reference: string): JsonValue | undefined {
    const steps = reference.split('/').slice(1);
    const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return names.reduce<JsonValue | undefined>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      this.#root,
    );
  }

  #sampleObject(schema: JsonObject, depth: number): JsonObject {
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
    const names = required.length > 0 || depth >= plainDepth ? required : Object.keys(properties);
    return Object.fromEntries(
      names.map((name) => [
        name,
        this.sample(Object.hasOwn(properties, name) ? properties[name] : { type: 'string' }, depth + 1),
      ]),
    );
  }

  #sampleArray(schema: JsonObject, depth: number): JsonValue[] {
    const tuple = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    const minItems = readNumber(schema['minItems']) ?? 0;
    const preferredLength = Math.max(minItems, tuple.length, depth < plainDepth ? 1 : 0);
    const length = Math.min(preferredLength, readNumber(schema['maxItems']) ?? preferredLength, maxItems);
    return Array.from({ length }, (_, index) => {
      if (index > 0) this.#turn++;
      return this.sample(tuple[index] ?? schema['items'] ?? true, depth + 1);
    });
  }

  #sampleString(schema: JsonObject): string {
    const { format } = schema;
    if (typeof format === 'string' && formatSamples[format] !== undefined) return formatSamples[format];
    const [text = this.#turn === 0 ? 'demo' : `demo ${this.#turn + 1}`] = rotate(this.#hints.strings, this.#turn);
    const minLength = Math.min(readNumber(schema['minLength']) ?? 0, maxStringLength);
    return text.slice(0, readNumber(schema['maxLength'])).padEnd(minLength, '.');
  }

  #sampleNumber(schema: JsonObject): number {
    const step = readNumber(schema['multipleOf']) ?? (findType(schema) === 'integer' ? 1 : undefined);
    const lowerBound = readNumber(schema['minimum']) ?? readNumber(schema['exclusiveMinimum']);
    const upperBound = readNumber(schema['maximum']) ?? readNumber(schema['exclusiveMaximum']);
    const bounds = [lowerBound, upperBound].filter((bound) => bound !== undefined);
    const boundaryValues = bounds.flatMap((bound) => {
      const onStep = step === undefined ? bound : Math.ceil(bound / step) * step;
      return [onStep, onStep + (step ?? 1), onStep - (step ?? 1)];
    });
    const middle = ((lowerBound ?? 0) + (upperBound ?? 0)) / 2;
    const candidates = [...rotate(this.#hints.numbers, this.#turn), 1, step ?? 1, ...boundaryValues, middle, 0];
    return candidates.find((value) => satisfiesBounds(value, schema, step)) ?? 0;
  }

  #choose(values: readonly JsonValue[]): JsonValue {
    const isNamed = (value: JsonValue) =>
      typeof value === 'string' && value !== '' && this.#hints.text.toLowerCase().includes(value.toLowerCase());
    return values.slice(0, maxChoices).find(isNamed) ?? values[0] ?? null;
  }
}

function findType(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type))
    return type.filter((option) => typeof option === 'string').find((option) => option !== 'null') ?? 'null';
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return 'object';
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array';
  return 'string';
}

function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const properties = [first['properties'], second['properties']].filter(isJsonObject);
  const required = [first['required'], second['required']].filter(Array.isArray).flat();
  return {
    ...first,
    ...second,
    ...(properties.length > 0 && { properties: Object.assign({}, ...properties) as JsonObject }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

function isNotNull(option: JsonValue): boolean {
  return isJsonObject(option) && option['type'] !== 'null' && option['const'] !== null;
}

function rotate<T>(values: readonly T[], turn: number): T[] {
  const start = values.length === 0 ? 0 : turn % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}

function readNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function satisfiesBounds(value: number, schema: JsonObject, step: number | undefined): boolean {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  return (
    value >= (readNumber(minimum) ?? -Infinity) &&
    value > (readNumber(exclusiveMinimum) ?? -Infinity) &&
    value <= (readNumber(maximum) ?? Infinity) &&
    value < (readNumber(exclusiveMaximum) ?? Infinity) &&
    (step === undefined || Number.isInteger(value / step))
  );
}
