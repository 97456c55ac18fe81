import { array, boolean, integer, object, string, type Infer, type JsonSchema } from '#core/platform/schema.ts';

// `store`, or `messages.name` for every entry of a list.
const memberPaths = array({ items: string({ pattern: '^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$' }) });

const properties = {
  sampling: boolean('False if the model rejects temperature, top_p, top_k and penalties.'),
  max_tokens_name: string(
    { enum: ['max_tokens', 'max_completion_tokens'] },
    'Chat Completions: name of the parameter that limits output tokens.',
  ),
  seed_name: string({ enum: ['seed', 'random_seed'] }, 'Chat Completions: name of the seed parameter.'),
  max_output_tokens: integer({ minimum: 1 }, 'Maximum output tokens; larger limits in requests are lowered to it.'),
  system_role: string({ enum: ['system', 'developer'] }, 'Chat Completions: role of instruction messages.'),
  late_system: boolean(
    'True when system messages are accepted anywhere in the conversation; false to send later ones as user text in their place.',
  ),
  single_system: boolean('True when only one system message is accepted; leading ones are merged.'),
  reasoning: string(
    {
      enum: [
        'effort',
        'thinking',
        'thinking_off',
        'enable_thinking',
        'openrouter',
        'adaptive',
        'budget',
        'level',
        'none',
      ],
    },
    'How reasoning is requested. Chat: effort (reasoning_effort), thinking ({type}), thinking_off ({type} to ' +
      'turn it off only), enable_thinking, openrouter (reasoning). Responses: effort. Messages: adaptive, budget. Gemini: budget, level. none: not requested.',
  ),
  efforts: array(
    { items: string({ enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] }), minItems: 1 },
    'Supported reasoning efforts; others are mapped to the nearest lower one.',
  ),
  default_effort: boolean('Chat Completions: true when reasoning_effort accepts default; otherwise it is left out.'),
  no_thinking: string(
    { enum: ['disabled', 'disabled_to_high', 'between_tools'] },
    'Messages: how thinking is turned off: disabled; disabled_to_high or between_tools if the model then rejects efforts above high, which are lowered.',
  ),
  replay_reasoning: string(
    { enum: ['never', 'given', 'tool_turns', 'always'] },
    'When the reasoning of earlier turns is sent back: never, where the client has it (given), or because the vendor requires ' +
      'it in turns with tool calls or in all. Chat Completions: see replay_as; Messages: in thinking blocks.',
  ),
  replay_as: string(
    { enum: ['reasoning_content', 'reasoning', 'thinking_parts', 'think_tags', 'text'] },
    'Chat Completions: where reasoning of earlier turns is sent back: in a field, in parts of the content, or in the text, ' +
      'between <think> and </think> or without them.',
  ),
  signed_thinking: boolean('Messages: true when thinking blocks are rejected unless the endpoint has signed them.'),
  forced_tools: boolean('False when tool_choice must be auto or none.'),
  named_tools: boolean(
    'Chat Completions: false when a tool_choice that names a tool is ignored; that tool alone is sent, and required.',
  ),
  no_tools: boolean('False when tool_choice none is ignored; the tools are left out instead.'),
  strict_tools: boolean('True when tools support strict.'),
  freeform_tools: boolean('True when tools support free-form input (custom tools).'),
  strict_calls: boolean(
    'True when the endpoint rejects histories with calls that have empty arguments or no result, or with results of no call; ' +
      'they are completed.',
  ),
  hosted_search: boolean('True when the vendor hosts a web search tool.'),
  tool_result_images: boolean('True when tool results support images.'),
  tool_schema: string(
    { enum: ['json_schema', 'subset'] },
    'Schema language for tools: full JSON Schema, or the OpenAPI subset of older Gemini APIs.',
  ),
  schema_subset: string(
    { enum: ['format', 'any', 'anthropic', 'openai', 'gemini', 'groq', 'cerebras', 'mistral'] },
    'Whose subset of JSON Schema structured output and strict tools support; the other rules of a schema are moved into its ' +
      'description in translated requests. format: Anthropic’s for Messages, Google’s for Gemini, otherwise any.',
  ),
  tool_call_ids: string(
    { enum: ['any', 'unique', 'nine_characters', 'functions'] },
    'Tool call ids that are accepted: any; unique if an id must not occur twice in a conversation (Anthropic, OpenAI); ' +
      'nine_characters if they must be nine letters or digits (Mistral); functions if they must be functions.NAME:N (Kimi).',
  ),
  text_content: boolean('True when message content must be a string, not a list of parts.'),
  stop: integer({ minimum: 0 }, 'Maximum number of stop sequences.'),
  stream_usage: boolean('True when stream_options.include_usage is supported.'),
  end_user: boolean('True when an end-user id is accepted.'),
  parallel_switch: boolean('True when parallel_tool_calls is supported.'),
  responses_for_tools: boolean(
    'True when tools with reasoning require the Responses endpoint, whatever the client’s format.',
  ),
  cache_retention: array(
    { items: string({ enum: ['in_memory', '24h'] }) },
    'Chat Completions, Responses: values of prompt_cache_retention that the model accepts; others are left out of translated requests.',
  ),
  cache_separator: string(
    { enum: ['none', 'user_id', 'cache_salt'] },
    'Field by which the vendor separates users’ prompt caches, for cache_isolation: user_id (in Messages, of metadata) or cache_salt.',
  ),
  automatic_caching: boolean(
    'True when a Messages endpoint supports automatic prompt caching (top-level cache_control).',
  ),
  count_tokens: boolean('True when the endpoint can count tokens.'),
  prefill: boolean('True when the model continues a final assistant message instead of rejecting the request.'),
  inline_thinking: boolean('True when reasoning arrives in the text, between <think> and </think>.'),
  finish_reason: boolean(
    'Chat Completions: false if streams end with [DONE] and without a finish reason. They count as complete, with stop or tool_calls.',
  ),
  betas: boolean(
    'True when the vendor of the format, such as Anthropic for Messages, is behind the endpoint: beta features, and the headers that belong to them, are passed on.',
  ),
  safeguards: boolean(
    'True when a Messages endpoint without betas reviews tool calls for the auto mode of Claude Code: safeguards and their beta header are passed on.',
  ),
  claude: boolean(
    'Messages: true when Claude is behind the endpoint, at Anthropic or a cloud: fallback blocks and cache_control.scope are passed on, and breakpoints of caches from other formats.',
  ),
  vertex: boolean(
    'True for Claude on Google Vertex AI: the path names the model, and the body has anthropic_version in its place.',
  ),
  refuses: array(
    memberPaths,
    'Request fields that the endpoint rejects or must not receive, such as store or messages.name; they are removed. Replaces the vendor’s list.',
  ),
  accepts: array(
    memberPaths,
    'The only request fields that the endpoint accepts, if it rejects unknown ones; others on the same level are removed. messages.role and messages.content restrict the fields of messages.',
  ),
} as const;

const plainSchema = object(properties);

export const quirksSchema = {
  ...plainSchema,
  description: 'How the endpoint deviates from its format. Default: the vendor’s quirks.',
  properties: {
    ...properties,
    by_format: {
      type: 'object',
      description:
        'Quirks that apply to one format of an endpoint with several, by format; they override the general quirks.',
      additionalProperties: plainSchema,
    },
  },
} as const satisfies JsonSchema;

/** `quirks` as written in gateway.yaml. */
export type QuirkSettings = Infer<typeof quirksSchema>;

/** A way to ask for reasoning. */
export type ReasoningStyle = NonNullable<QuirkSettings['reasoning']>;

/** The name of a subset of JSON Schema. */
export type SchemaSubsetName = NonNullable<QuirkSettings['schema_subset']>;

/** How a vendor deviates from the standard form of a format, on a route. */
export type Quirks = Resolved<Omit<QuirkSettings, 'max_output_tokens' | 'by_format'>> & {
  readonly max_output_tokens: number | undefined;
};

/** The standard form of each format, used if neither the vendor's preset nor gateway.yaml has quirks. */
export const defaultQuirks: Quirks = {
  sampling: true,
  max_tokens_name: 'max_tokens',
  seed_name: 'seed',
  max_output_tokens: undefined,
  system_role: 'system',
  late_system: false,
  single_system: false,
  reasoning: 'effort',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  default_effort: false,
  no_thinking: 'disabled',
  replay_reasoning: 'given',
  replay_as: 'reasoning_content',
  signed_thinking: true,
  forced_tools: true,
  named_tools: true,
  no_tools: true,
  strict_tools: false,
  freeform_tools: false,
  strict_calls: false,
  hosted_search: false,
  tool_result_images: true,
  tool_schema: 'json_schema',
  schema_subset: 'format',
  tool_call_ids: 'any',
  text_content: false,
  stop: 4,
  stream_usage: true,
  end_user: true,
  parallel_switch: true,
  responses_for_tools: false,
  cache_retention: [],
  cache_separator: 'none',
  automatic_caching: false,
  count_tokens: false,
  prefill: false,
  inline_thinking: false,
  finish_reason: true,
  betas: false,
  safeguards: false,
  claude: false,
  vertex: false,
  refuses: [],
  accepts: [],
};

/** The same settings, with every member filled in. */
export type Resolved<T> = { readonly [Name in keyof T]-?: Exclude<T[Name], undefined> };
