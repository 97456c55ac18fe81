/**
 * The subset of JSON Schema (draft-07) used for gateway.yaml, stage options and job data. A schema is the only description of a value:
 * validation, defaults, editor completion and the TypeScript type are derived from it.
 */
export interface JsonSchema {
  readonly type?: SchemaType | readonly SchemaType[];
  /** Shown to people. Starts with the unit, if any. */
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Marks a secret, whose value is never shown in messages, logs or pages. */
  readonly writeOnly?: boolean;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Custom keyword for action input: the text may contain line breaks and tabs. */
  readonly isMultiline?: boolean;
  /** Custom keyword for action input: an amount in the plans' currency, which people type with separators. */
  readonly isMoney?: boolean;
  /** Custom keyword for action input: an account. */
  readonly isAccount?: boolean;
  readonly format?: string;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: { readonly [name: string]: JsonSchema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

type SchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

/** Type of the values that match a schema, with defaults filled in. */
export type Infer<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Option)[] }
      ? Infer<Option>
      : S extends { readonly oneOf: readonly (infer Option)[] }
        ? Infer<Option>
        : S extends { readonly type: infer Type }
          ? InferType<Type extends readonly (infer Alternative)[] ? Alternative : Type, S>
          : unknown;

type InferType<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? InferItems<S>
          : Type extends 'object'
            ? InferObject<S>
            : unknown;

type InferItems<S> = S extends { readonly items: infer Item } ? Infer<Item>[] : unknown[];

type InferObject<S> = S extends { readonly properties: infer Properties }
  ? InferProperties<Properties, RequiredNames<S>>
  : S extends { readonly additionalProperties: infer Rest extends JsonSchema }
    ? { [name: string]: Infer<Rest> }
    : { [name: string]: unknown };

type RequiredNames<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type InferProperties<Properties, Required> = Flat<
  {
    [Name in keyof Properties as IsPresent<Properties[Name], Name, Required> extends true ? Name : never]: Infer<
      Properties[Name]
    >;
  } & {
    [Name in keyof Properties as IsPresent<Properties[Name], Name, Required> extends true ? never : Name]?:
      | Infer<Properties[Name]>
      | undefined;
  }
>;

type IsPresent<Property, Name, Required> = Name extends Required
  ? true
  : Property extends { readonly default: unknown }
    ? true
    : false;

type Flat<T> = { [Name in keyof T]: T[Name] };

type Rules = Omit<JsonSchema, 'type' | 'description' | 'properties' | 'additionalProperties'>;
type Part = Rules | readonly string[] | string | undefined;
type Members = Readonly<Record<string, JsonSchema>>;
type OfType<Type, R> = R & { readonly type: Type };
type OfMembers<P, R> = {
  readonly type: 'object';
  readonly properties: P;
  readonly additionalProperties: false;
} & RulesOf<R>;
type RulesOf<R> = R extends readonly string[] ? { readonly required: R } : R;

/**
 * Builds the schema of one type from rules and a description. For example, `integer({ minimum: 1 }, 'Days.')` returns `{ type: 'integer',
 * minimum: 1, description: 'Days.' }`.
 */
interface Notation<Type extends SchemaType> {
  (description?: string): OfType<Type, unknown>;
  <const R extends Rules>(rules: R, description?: string): OfType<Type, R>;
}

function createNotation<Type extends SchemaType>(type: Type): Notation<Type> {
  return (...parts: readonly Part[]) => withRules({ type }, parts) as OfType<Type, never>;
}

function withRules(schema: JsonSchema, parts: readonly Part[]): JsonSchema {
  const rules = parts.map((part) => {
    if (typeof part === 'string') return { description: part };
    return Array.isArray(part) ? { required: part } : part;
  });
  return Object.assign({ ...schema }, ...rules);
}

// Schema builders, one for each type.
export const string = createNotation('string');
export const integer = createNotation('integer');
export const number = createNotation('number');
export const boolean = createNotation('boolean');
export const array = createNotation('array');

/**
 * Defines an object with exactly these members, for example `object(['to'], 'A route.', { to: string('UPSTREAM/MODEL.') })`. The optional
 * first arguments are the names of the required members, or other rules, and the description.
 */
export function object<const P extends Members>(properties: P): OfMembers<P, unknown>;
export function object<const P extends Members>(description: string, properties: P): OfMembers<P, unknown>;
export function object<const P extends Members, const R extends Rules | readonly (keyof P & string)[]>(
  rules: R,
  properties: P,
): OfMembers<P, R>;
export function object<const P extends Members, const R extends Rules | readonly (keyof P & string)[]>(
  rules: R,
  description: string,
  properties: P,
): OfMembers<P, R>;
export function object(...parts: readonly (Part | Members)[]): unknown {
  const properties = parts.at(-1) as Members;
  const rules = parts.slice(0, -1) as readonly Part[];
  return withRules({ type: 'object', properties, additionalProperties: false }, rules);
}
