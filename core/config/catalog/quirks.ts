import type { Infer, JsonSchema } from '#core/platform/schema.ts';

const flag = { type: 'boolean' } as const;

/** A member of a request: `store`, or `messages.name` for that of each entry of a list. */
const memberPaths = {
  type: 'array',
  items: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)*$' },
} as const;

const properties = {
  sampling: { ...flag, description: 'False if the model rejects temperature, top_p, top_k and penalties.' },
  max_tokens_name: {
    type: 'string',
    enum: ['max_tokens', 'max_completion_tokens'],
    description: 'Chat Completions: name of the parameter that limits output tokens.',
  },
  seed_name: {
    type: 'string',
    enum: ['seed', 'random_seed'],
    description: 'Chat Completions: name of the seed parameter.',
  },
  max_output_tokens: {
    type: 'integer',
    minimum: 1,
    description: 'Maximum output tokens; larger limits in requests are lowered to it.',
  },
  system_role: {
    type: 'string',
    enum: ['system', 'developer'],
    description: 'Chat Completions: role of instruction messages.',
  },
  late_system: {
    ...flag,
    description:
      'True when system messages are accepted anywhere in the conversation; false to send later ones as user text in their place.',
  },
  single_system: { ...flag, description: 'True when only one system message is accepted; leading ones are merged.' },
  reasoning: {
    type: 'string',
    enum: ['effort', 'thinking', 'enable_thinking', 'openrouter', 'adaptive', 'budget', 'level', 'none'],
    description:
      'How reasoning is requested. Chat: effort (reasoning_effort), thinking ({type}), enable_thinking, openrouter ' +
      '(reasoning). Responses: effort. Messages: adaptive, budget. Gemini: budget, level. none: not requested.',
  },
  efforts: {
    type: 'array',
    items: { type: 'string', enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
    minItems: 1,
    description: 'Supported reasoning efforts; others are mapped to the nearest lower one.',
  },
  replay_reasoning: {
    type: 'string',
    enum: ['never', 'given', 'tool_turns', 'always'],
    description:
      'When the reasoning of earlier turns is sent back: never, where the client has it (given), or because the vendor requires ' +
      'it in turns with tool calls or in all. Chat Completions: see replay_as; Messages: in thinking blocks.',
  },
  replay_as: {
    type: 'string',
    enum: ['reasoning_content', 'reasoning', 'thinking_parts', 'think_tags', 'text'],
    description:
      'Chat Completions: where reasoning of earlier turns is sent back: in a field, in parts of the content, or in the text, ' +
      'between <think> and </think> or without them.',
  },
  signed_thinking: {
    ...flag,
    description: 'Messages: true when thinking blocks are rejected without a signature of the endpoint.',
  },
  forced_tools: { ...flag, description: 'False when tool_choice must be auto or none.' },
  strict_tools: { ...flag, description: 'True when tools support strict.' },
  freeform_tools: { ...flag, description: 'True when tools support free-form input (custom tools).' },
  strict_calls: {
    ...flag,
    description:
      'True when the endpoint rejects histories with calls that have empty arguments or no result, or with results of no call; ' +
      'they are completed.',
  },
  hosted_search: { ...flag, description: 'True when the vendor hosts a web search tool.' },
  tool_result_images: { ...flag, description: 'True when tool results support images.' },
  tool_schema: {
    type: 'string',
    enum: ['json_schema', 'subset'],
    description: 'Schema language for tools: full JSON Schema, or the OpenAPI subset of older Gemini APIs.',
  },
  tool_call_ids: {
    type: 'string',
    enum: ['any', 'nine_characters'],
    description: 'Format of tool call ids; Mistral requires nine letters or digits.',
  },
  text_content: { ...flag, description: 'True when message content must be a string, not a list of parts.' },
  stop: { type: 'integer', minimum: 0, description: 'Maximum number of stop sequences.' },
  stream_usage: { ...flag, description: 'True when stream_options.include_usage is supported.' },
  end_user: { ...flag, description: 'True when an end-user id is accepted.' },
  parallel_switch: { ...flag, description: 'True when parallel_tool_calls is supported.' },
  responses_for_tools: {
    ...flag,
    description: 'True when tools with reasoning require the Responses endpoint, whatever the client’s format.',
  },
  automatic_caching: {
    ...flag,
    description: 'True when a Messages endpoint supports automatic prompt caching (top-level cache_control).',
  },
  count_tokens: { ...flag, description: 'True when the endpoint can count tokens.' },
  prefill: {
    ...flag,
    description: 'True when the model continues a final assistant message instead of rejecting the request.',
  },
  inline_thinking: { ...flag, description: 'True when reasoning arrives in the text, between <think> and </think>.' },
  finish_reason: {
    ...flag,
    description:
      'Chat Completions: false if streams end with [DONE] and without a finish reason. They count as complete, with stop or tool_calls.',
  },
  betas: {
    ...flag,
    description:
      'True when the vendor of the format, such as Anthropic for Messages, is behind the endpoint: beta features, and the headers that belong to them, are passed on.',
  },
  vertex: {
    ...flag,
    description:
      'True for Claude on Google Vertex AI: the path names the model, and the body has anthropic_version in its place.',
  },
  refuses: {
    ...memberPaths,
    description:
      'Request fields that the endpoint rejects or must not receive, such as store or messages.name; they are removed. Replaces the vendor’s list.',
  },
  accepts: {
    ...memberPaths,
    description:
      'The only request fields that the endpoint accepts, if it rejects unknown ones; others on the same level are removed. messages.role and messages.content restrict the fields of messages.',
  },
} as const;

const plainSchema = { type: 'object', properties, additionalProperties: false } as const;

/** How a vendor deviates from the plain form of a format. */
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

/** `quirks` as gateway.yaml has them. */
export type QuirkSettings = Infer<typeof quirksSchema>;

/** How reasoning is requested. */
export type ReasoningStyle = NonNullable<QuirkSettings['reasoning']>;

/** How a vendor deviates from the plain form of a format, on a route. */
export type Quirks = Resolved<Omit<QuirkSettings, 'max_output_tokens' | 'by_format'>> & {
  readonly max_output_tokens: number | undefined;
};

/** The plain form of each format: what holds where neither vendor nor operator has configured anything. */
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
  replay_reasoning: 'given',
  replay_as: 'reasoning_content',
  signed_thinking: true,
  forced_tools: true,
  strict_tools: false,
  freeform_tools: false,
  strict_calls: false,
  hosted_search: false,
  tool_result_images: true,
  tool_schema: 'json_schema',
  tool_call_ids: 'any',
  text_content: false,
  stop: 4,
  stream_usage: true,
  end_user: true,
  parallel_switch: true,
  responses_for_tools: false,
  automatic_caching: false,
  count_tokens: false,
  prefill: false,
  inline_thinking: false,
  finish_reason: true,
  betas: false,
  vertex: false,
  refuses: [],
  accepts: [],
};

/** Settings with every member filled in. */
export type Resolved<T> = { readonly [Name in keyof T]-?: Exclude<T[Name], undefined> };
