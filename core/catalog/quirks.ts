import type { Infer, JsonSchema } from '../schema.ts';
import type { Settled } from './settled.ts';

const flag = { type: 'boolean' } as const;

/** How a vendor deviates from the plain form of a format. */
export const quirksSchema = {
  type: 'object',
  description: 'How the endpoint deviates from the plain form of its format; the vendor’s quirks when left out.',
  properties: {
    sampling: { ...flag, description: 'False for models that refuse temperature, top_p, top_k and penalties.' },
    max_tokens_name: {
      type: 'string',
      enum: ['max_tokens', 'max_completion_tokens'],
      description: 'What Chat Completions calls the limit of an answer there.',
    },
    seed_name: {
      type: 'string',
      enum: ['seed', 'random_seed'],
      description: 'What Chat Completions calls the seed there.',
    },
    max_output_tokens: {
      type: 'integer',
      minimum: 1,
      description: 'Most tokens an answer can have there: larger limits of clients are cut to it.',
    },
    system_role: {
      type: 'string',
      enum: ['system', 'developer'],
      description: 'The role that instructions have in Chat Completions there.',
    },
    late_system: { ...flag, description: 'True when a system message may stand within the dialogue.' },
    reasoning: {
      type: 'string',
      enum: ['effort', 'thinking', 'enable_thinking', 'openrouter', 'adaptive', 'budget', 'level', 'none'],
      description:
        'How thinking is asked for. Chat: effort (reasoning_effort), thinking ({type}), enable_thinking, openrouter ' +
        '(reasoning). Responses: effort. Messages: adaptive, budget. Gemini: budget, level. none: not at all.',
    },
    efforts: {
      type: 'array',
      items: { type: 'string', enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] },
      minItems: 1,
      description: 'Efforts that the model knows; others become the nearest lower one.',
    },
    replay_reasoning: {
      type: 'string',
      enum: ['never', 'tool_turns', 'always'],
      description: 'When Chat Completions there wants reasoning_content back in the assistant’s messages.',
    },
    forced_tools: { ...flag, description: 'False when tool_choice may only be auto or none.' },
    strict_tools: { ...flag, description: 'True when tools may be marked strict.' },
    freeform_tools: { ...flag, description: 'True when tools may take raw text (custom tools).' },
    hosted_search: { ...flag, description: 'True when the vendor searches the web by itself when asked to.' },
    tool_result_images: { ...flag, description: 'True when results of tools may hold pictures.' },
    tool_schema: {
      type: 'string',
      enum: ['json_schema', 'subset'],
      description: 'What schemas of tools may say: all of JSON Schema, or Gemini’s old subset.',
    },
    tool_call_ids: {
      type: 'string',
      enum: ['any', 'nine_characters'],
      description: 'What ids of calls may look like; Mistral wants nine letters or digits.',
    },
    text_content: { ...flag, description: 'True when content of messages must be a string, not a list of parts.' },
    stop: { type: 'integer', minimum: 0, description: 'Stop sequences that are accepted.' },
    stream_usage: { ...flag, description: 'True when stream_options.include_usage is known there.' },
    end_user: { ...flag, description: 'True when an id of the end user is accepted.' },
    parallel_switch: { ...flag, description: 'True when parallel_tool_calls is known there.' },
    responses_for_tools: {
      ...flag,
      description: 'True when tools with reasoning only work on the Responses endpoint, whatever the client speaks.',
    },
    automatic_caching: {
      ...flag,
      description: 'True when a Messages endpoint caches prompts if asked at the top level.',
    },
    count_tokens: { ...flag, description: 'True when the endpoint counts tokens itself.' },
    prefill: {
      ...flag,
      description: 'True when the model continues a final assistant message instead of refusing it.',
    },
    inline_thinking: { ...flag, description: 'True when thoughts come inside the text, between <think> and </think>.' },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `quirks` as gateway.yaml has them. */
export type QuirkSettings = Infer<typeof quirksSchema>;

/** A way in which reasoning is asked for. */
export type ReasoningWay = NonNullable<QuirkSettings['reasoning']>;

/** How a vendor deviates from the plain form of a format, on a route. */
export type Quirks = Settled<Omit<QuirkSettings, 'max_output_tokens'>> & {
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
  reasoning: 'effort',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  replay_reasoning: 'never',
  forced_tools: true,
  strict_tools: false,
  freeform_tools: false,
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
};
