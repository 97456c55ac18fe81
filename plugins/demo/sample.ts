import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

interface Hints {
  readonly text: string;
  readonly strings: readonly string[];
  readonly numbers: readonly number[];
}

/** From this depth on only required members are made; one level deeper none at all, because schemas may be recursive. */
const plainDepth = 5;
const maxDepth = 40;
/** Maximum number of resolved subschemas: a short schema can expand to millions. */
const maxSteps = 5_000;
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

/** Finds quoted texts, then capitalised names, in the order of the prompt. */
export function findHints(text: string): Hints {
  const quotes = /["“`]([^"“”`\n]{1,80})["”`]/g;
  const quoted = text.matchAll(quotes).map((match) => match[1] as string);
  const bare = text.replaceAll(quotes, '');
  const names = bare.matchAll(/(?<=[\p{Ll}\d,;:]\s|=)\p{Lu}\p{L}+(?:\s\p{Lu}\p{L}+)*/gu).map(([name]) => name);
  const numbers = bare.matchAll(/(?<![\w.])-?\d{1,9}(?:\.\d{1,6})?(?![\w.]*\w)/g).map(([number]) => Number(number));
  return { text, strings: [...new Set([...quoted, ...names])], numbers: [...numbers] };
}

/**
 * Makes a small value that satisfies a JSON Schema. `pattern`, `not` and `if` are ignored.
 *
 * @param turn samples of the same schema with different turns use different hints
 */
export function sampleOf(schema: JsonObject, hints: Hints, turn = 0): JsonValue {
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

  sample(given: JsonValue | undefined, depth: number): JsonValue {
    const schema = this.#resolve(given, depth);
    if (this.#stepsLeft <= 0) return null;
    if (schema['const'] !== undefined) return schema['const'];
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return this.#choose(schema['enum']);
    switch (typeOf(schema)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return this.#string(schema);
      case 'integer':
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return true;
      default:
        return null;
    }
  }

  /** Follows references, merges `allOf`, and takes the first alternative that is not null. */
  #resolve(given: JsonValue | undefined, depth: number): JsonObject {
    if (depth > maxDepth || --this.#stepsLeft <= 0) return { type: 'null' };
    if (!isJsonObject(given)) return {};
    const { $ref: reference, allOf, anyOf, oneOf, ...own } = given;
    const options = [anyOf, oneOf].filter(Array.isArray).map((list) => list.find(isNotNull) ?? list[0]);
    const target = typeof reference === 'string' ? [this.#follow(reference)] : [];
    const parts = [...target, ...(Array.isArray(allOf) ? allOf : []), ...options];
    return parts.map((part) => this.#resolve(part, depth + 1)).reduce(merge, own);
  }

  #follow(reference: string): JsonValue | undefined {
    const steps = reference.split('/').slice(1);
    const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    return names.reduce<JsonValue | undefined>(
      (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      this.#root,
    );
  }

  #object(schema: JsonObject, depth: number): JsonObject {
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

  #array(schema: JsonObject, depth: number): JsonValue[] {
    const tuple = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    const least = numberIn(schema['minItems']) ?? 0;
    const wanted = Math.max(least, tuple.length, depth < plainDepth ? 1 : 0);
    const length = Math.min(wanted, numberIn(schema['maxItems']) ?? wanted, maxItems);
    return Array.from({ length }, (_, index) => {
      if (index > 0) this.#turn++;
      return this.sample(tuple[index] ?? schema['items'] ?? true, depth + 1);
    });
  }

  #string(schema: JsonObject): string {
    const { format } = schema;
    if (typeof format === 'string' && formatSamples[format] !== undefined) return formatSamples[format];
    const [text = this.#turn === 0 ? 'demo' : `demo ${this.#turn + 1}`] = rotate(this.#hints.strings, this.#turn);
    const least = Math.min(numberIn(schema['minLength']) ?? 0, maxStringLength);
    return text.slice(0, numberIn(schema['maxLength'])).padEnd(least, '.');
  }

  #number(schema: JsonObject): number {
    const step = numberIn(schema['multipleOf']) ?? (typeOf(schema) === 'integer' ? 1 : undefined);
    const low = numberIn(schema['minimum']) ?? numberIn(schema['exclusiveMinimum']);
    const high = numberIn(schema['maximum']) ?? numberIn(schema['exclusiveMaximum']);
    const bounds = [low, high].filter((bound) => bound !== undefined);
    const near = bounds.flatMap((bound) => {
      const onStep = step === undefined ? bound : Math.ceil(bound / step) * step;
      return [onStep, onStep + (step ?? 1), onStep - (step ?? 1)];
    });
    const middle = ((low ?? 0) + (high ?? 0)) / 2;
    const candidates = [...rotate(this.#hints.numbers, this.#turn), 1, step ?? 1, ...near, middle, 0];
    return candidates.find((value) => isWithin(value, schema, step)) ?? 0;
  }

  #choose(values: readonly JsonValue[]): JsonValue {
    const isNamed = (value: JsonValue) =>
      typeof value === 'string' && value !== '' && this.#hints.text.toLowerCase().includes(value.toLowerCase());
    return values.slice(0, maxChoices).find(isNamed) ?? values[0] ?? null;
  }
}

function typeOf(schema: JsonObject): string {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type))
    return type.filter((option) => typeof option === 'string').find((option) => option !== 'null') ?? 'null';
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return 'object';
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array';
  return 'string';
}

/** Merges two schemas: members of the second win; properties and required names are united. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
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

function numberIn(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function isWithin(value: number, schema: JsonObject, step: number | undefined): boolean {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  return (
    value >= (numberIn(minimum) ?? -Infinity) &&
    value > (numberIn(exclusiveMinimum) ?? -Infinity) &&
    value <= (numberIn(maximum) ?? Infinity) &&
    value < (numberIn(exclusiveMaximum) ?? Infinity) &&
    (step === undefined || Number.isInteger(value / step))
  );
}
