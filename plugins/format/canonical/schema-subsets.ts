import type { Profile } from '#core/config/catalog/profile.ts';
import type { SchemaSubsetName } from '#core/config/catalog/quirks.ts';
import type { JsonValue } from '#core/platform/json.ts';

/**
 * The part of JSON Schema that a vendor compiles into a grammar. The vendor refuses all other keywords with 400, so they move into the
 * description.
 */
export interface SchemaSubset {
  /** If given, only these keywords are accepted; otherwise, all except the refused ones. */
  readonly accepted?: ReadonlySet<string>;
  readonly refused?: ReadonlySet<string>;
  /** Checks the values of a keyword; keywords that are not listed accept any value. */
  readonly valueChecks?: Readonly<Record<string, (value: JsonValue) => boolean>>;
  /** True if every schema is compiled, false if only schemas marked `strict` are. */
  readonly isAlwaysEnforced: boolean;
  /** True if a tool's schema is compiled even without `strict`. */
  readonly compilesEveryTool?: boolean;
  /** True if each schema must have a type or alternatives. */
  readonly requiresTypes?: boolean;
  /** True if objects must set `additionalProperties: false`. The gateway adds it. */
  readonly requiresClosedObjects?: boolean;
  /** True if a strict schema must require all of its properties and set `additionalProperties: false`. */
  readonly requiresAllProperties?: boolean;
  /** False if a schema must not contain itself. */
  readonly allowsRecursion: boolean;
  /** False if several types must be written as alternatives rather than a list. */
  readonly allowsTypeLists: boolean;
  /** True if the schema of a tool's input must not have alternatives at its top level. */
  readonly refusesToolAlternatives?: boolean;
  /** True if the outermost schema must be an object without alternatives. */
  readonly requiresRootObject?: boolean;
}

function splitWords(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

const commonKeywords = 'type title description enum $ref $defs anyOf properties required additionalProperties items';

const stringFormats = splitWords('date-time time date duration email hostname uri ipv4 ipv6 uuid');

/**
 * Returns true for a pattern without backreferences, lookaround, word boundaries or long repetitions. Source: Anthropic docs, "Structured
 * outputs", "Pattern support".
 */
function isSimplePattern(value: JsonValue): boolean {
  return typeof value === 'string' && !/\(\?[=!<]|\\[1-9kbB]|\{(?:\d*,)?\d{3,}\}/.test(value);
}

function isPrimitiveList(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((entry) => entry === null || typeof entry !== 'object');
}

function isStringFormat(value: JsonValue): boolean {
  return typeof value === 'string' && stringFormats.has(value);
}

export const schemaSubsets: Readonly<Record<Exclude<SchemaSubsetName, 'any' | 'format'>, SchemaSubset>> = {
  // Anthropic docs, "Structured outputs", "JSON Schema limitations"; @anthropic-ai/sdk 1.14.0, lib/transform-json-schema.
  anthropic: {
    accepted: splitWords(`${commonKeywords} const default definitions allOf minItems format pattern`),
    valueChecks: {
      enum: isPrimitiveList,
      const: (value) => isPrimitiveList([value]),
      minItems: (value) => value === 0 || value === 1,
      format: isStringFormat,
      pattern: isSimplePattern,
    },
    isAlwaysEnforced: true,
    requiresTypes: true,
    requiresClosedObjects: true,
    allowsRecursion: false,
    allowsTypeLists: true,
    refusesToolAlternatives: true,
  },
  // OpenAI docs, "Structured model outputs", "Supported schemas"; openai 7.55.0, lib/transform; "'default' is not permitted".
  openai: {
    refused: splitWords(
      '$anchor $dynamicAnchor $dynamicRef $recursiveAnchor $recursiveRef additionalItems allOf contains contentEncoding ' +
        'contentMediaType contentSchema default dependencies dependentRequired dependentSchemas else examples if ' +
        'maxContains maxProperties minContains minProperties not oneOf patternProperties prefixItems propertyNames then ' +
        'unevaluatedItems unevaluatedProperties uniqueItems',
    ),
    valueChecks: { format: (value) => value !== 'uri' && isStringFormat(value) },
    isAlwaysEnforced: false,
    requiresTypes: true,
    requiresAllProperties: true,
    allowsRecursion: true,
    allowsTypeLists: true,
    refusesToolAlternatives: true,
    requiresRootObject: true,
  },
  // Gemini API reference, `responseJsonSchema`, as quoted by @google/genai 3.3.0.
  gemini: {
    accepted: splitWords(
      `${commonKeywords} $id $anchor format prefixItems minItems maxItems minimum maximum oneOf propertyOrdering`,
    ),
    valueChecks: {
      enum: (value) =>
        Array.isArray(value) && value.every((entry) => entry === null || /^(?:string|number)$/.test(typeof entry)),
    },
    isAlwaysEnforced: true,
    allowsRecursion: true,
    allowsTypeLists: true,
  },
  // Groq docs, "Structured Outputs", `strict: true`.
  groq: { isAlwaysEnforced: false, requiresAllProperties: true, allowsRecursion: true, allowsTypeLists: true },
  // Cerebras docs, "Structured Outputs", "Schema limitations"; claude-code-router#708 (minItems); agno#6013.
  cerebras: {
    refused: splitWords('$anchor pattern format minItems maxItems oneOf allOf'),
    isAlwaysEnforced: false,
    requiresTypes: true,
    requiresAllProperties: true,
    allowsRecursion: false,
    allowsTypeLists: false,
    requiresRootObject: true,
  },
  // litellm#13389: "failed to compile JSON schema", including schemas of tools.
  mistral: {
    refused: splitWords('$id $schema'),
    isAlwaysEnforced: true,
    compilesEveryTool: true,
    allowsRecursion: true,
    allowsTypeLists: true,
  },
};

/** Keywords that name or describe a schema without restricting its values. */
export const annotationKeywords = splitWords(
  '$schema $id $anchor $comment title deprecated readOnly writeOnly propertyOrdering',
);

/** Keywords that inform the model without restricting values. */
export const hintKeywords = splitWords('default examples');

/** Keywords that contain a schema or a list of schemas. */
export const schemaKeywords = splitWords('items prefixItems anyOf oneOf allOf');
/** Keywords that contain named schemas. */
export const schemaMapKeywords = splitWords('properties $defs definitions');

/** Returns undefined if the route accepts any schema. */
export function selectSubset({ quirks }: Profile, vendorSubset?: keyof typeof schemaSubsets): SchemaSubset | undefined {
  const name = quirks.schema_subset === 'format' ? (vendorSubset ?? 'any') : quirks.schema_subset;
  return name === 'any' ? undefined : schemaSubsets[name];
}
