import type { Profile } from '#core/config/catalog/profile.ts';
import type { SchemaSubsetName } from '#core/config/catalog/quirks.ts';
import type { JsonValue } from '#core/platform/json.ts';

/**
 * The part of JSON Schema that a vendor compiles into a grammar. A schema with anything else is answered with 400, so such
 * keywords are moved into the description.
 */
export interface SchemaSubset {
  /** The only keywords that it takes; any but the refused ones where this is left out. */
  readonly takes?: ReadonlySet<string>;
  readonly refuses?: ReadonlySet<string>;
  /** Values that it takes of some keywords; any of the others. */
  readonly values?: Readonly<Record<string, (value: JsonValue) => boolean>>;
  /** True where every schema is compiled, false where only those marked `strict` are. */
  readonly isAlwaysEnforced: boolean;
  /** True where a tool’s schema is compiled without `strict` too. */
  readonly compilesTools?: boolean;
  /** True where each schema needs a type or alternatives. */
  readonly isTyped?: boolean;
  /** True where objects must set `additionalProperties: false`; the gateway sets it. */
  readonly isClosed?: boolean;
  /** True where a strict schema must require all of its properties and set `additionalProperties: false`. */
  readonly isComplete?: boolean;
  /** False where a schema may not contain itself. */
  readonly isRecursive: boolean;
  /** False where several types are alternatives, never a list. */
  readonly hasTypeLists: boolean;
  /** True where the input of a tool may have no alternatives at its top. */
  readonly hasPlainTools?: boolean;
  /** True where the outermost schema must be an object without alternatives. */
  readonly isRootObject?: boolean;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

const structure = 'type title description enum $ref $defs anyOf properties required additionalProperties items';

const stringFormats = words('date-time time date duration email hostname uri ipv4 ipv6 uuid');

/**
 * Backreferences, lookaround, word boundaries and long repetitions are refused. Source: Anthropic docs, "Structured outputs",
 * "Pattern support".
 */
function isSimplePattern(value: JsonValue): boolean {
  return typeof value === 'string' && !/\(\?[=!<]|\\[1-9kbB]|\{(?:\d*,)?\d{3,}\}/.test(value);
}

function isPrimitiveList(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((entry) => entry === null || typeof entry !== 'object');
}

function isFormat(value: JsonValue): boolean {
  return typeof value === 'string' && stringFormats.has(value);
}

export const subsets: Readonly<Record<Exclude<SchemaSubsetName, 'any' | 'format'>, SchemaSubset>> = {
  // Anthropic docs, "Structured outputs", "JSON Schema limitations"; @anthropic-ai/sdk 1.14.0, lib/transform-json-schema.
  anthropic: {
    takes: words(`${structure} const default definitions allOf minItems format pattern`),
    values: {
      enum: isPrimitiveList,
      const: (value) => isPrimitiveList([value]),
      minItems: (value) => value === 0 || value === 1,
      format: isFormat,
      pattern: isSimplePattern,
    },
    isAlwaysEnforced: true,
    isTyped: true,
    isClosed: true,
    isRecursive: false,
    hasTypeLists: true,
    hasPlainTools: true,
  },
  // OpenAI docs, "Structured model outputs", "Supported schemas"; openai 7.55.0, lib/transform; "'default' is not permitted".
  openai: {
    refuses: words(
      '$anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef additionalItems allOf contains contentEncoding ' +
        'contentMediaType contentSchema default dependencies dependentRequired dependentSchemas else examples if ' +
        'maxContains maxProperties minContains minProperties not oneOf patternProperties prefixItems propertyNames then ' +
        'unevaluatedItems unevaluatedProperties uniqueItems',
    ),
    values: { format: (value) => value !== 'uri' && isFormat(value) },
    isAlwaysEnforced: false,
    isTyped: true,
    isComplete: true,
    isRecursive: true,
    hasTypeLists: true,
    hasPlainTools: true,
    isRootObject: true,
  },
  // Gemini API reference, `responseJsonSchema`, as quoted by @google/genai 3.3.0.
  gemini: {
    takes: words(
      `${structure} $id $anchor format prefixItems minItems maxItems minimum maximum oneOf propertyOrdering`,
    ),
    values: {
      enum: (value) =>
        Array.isArray(value) && value.every((entry) => entry === null || /^(?:string|number)$/.test(typeof entry)),
    },
    isAlwaysEnforced: true,
    isRecursive: true,
    hasTypeLists: true,
  },
  // Groq docs, "Structured Outputs", `strict: true`.
  groq: { isAlwaysEnforced: false, isComplete: true, isRecursive: true, hasTypeLists: true },
  // Cerebras docs, "Structured Outputs", "Schema limitations"; claude-code-router#708 (minItems); agno#6013.
  cerebras: {
    refuses: words('$anchor pattern format minItems maxItems oneOf allOf'),
    isAlwaysEnforced: false,
    isTyped: true,
    isComplete: true,
    isRecursive: false,
    hasTypeLists: false,
    isRootObject: true,
  },
  // litellm#13389: "failed to compile JSON schema", of tools too.
  mistral: {
    refuses: words('$id $schema'),
    isAlwaysEnforced: true,
    compilesTools: true,
    isRecursive: true,
    hasTypeLists: true,
  },
};

/** Keywords that name or comment, and restrict no value. */
export const annotations = words('$schema $id $anchor $comment title deprecated readOnly writeOnly propertyOrdering');

/** Keywords that restrict no value, but tell the model something. */
export const hints = words('default examples');

/** The keywords that contain schemas: one or a list, or schemas by name. */
export const holders = words('items prefixItems anyOf oneOf allOf');
export const namedHolders = words('properties $defs definitions');

/** The subset of a route; undefined where any schema is taken. @param own that of the format's vendor */
export function subsetOf({ quirks }: Profile, own?: keyof typeof subsets): SchemaSubset | undefined {
  const name = quirks.schema_subset === 'format' ? (own ?? 'any') : quirks.schema_subset;
  return name === 'any' ? undefined : subsets[name];
}
