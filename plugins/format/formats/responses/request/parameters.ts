import {
  boolean,
  integer,
  number,
  object,
  objects,
  parameters,
  text,
  textOr,
  textOrObject,
  texts,
} from '../../contract/parameters.ts';

/** Fewest tokens that an answer may be limited to: OpenAI refuses less. */
export const minOutputTokens = 16;

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
