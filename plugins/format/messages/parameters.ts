import {
  boolean,
  integer,
  number,
  object,
  objects,
  parameters,
  someObjects,
  text,
  textOr,
  texts,
  word,
} from '../request/parameters.ts';

/** Source: Anthropic API reference, "Create a Message". */
export const messagesParameters = parameters({
  messages: someObjects,
  stream: boolean,
  system: textOr(objects),
  max_tokens: integer(1),
  temperature: number(0, 1),
  top_p: number(0, 1),
  top_k: integer(0),
  stop_sequences: texts,
  tools: objects,
  tool_choice: object,
  thinking: object,
  'thinking.type': word(
    ['enabled', 'adaptive', 'between_tools', 'disabled'],
    'enabled, adaptive, between_tools or disabled',
  ),
  output_config: object,
  'output_config.effort': text,
  metadata: object,
  'metadata.user_id': text,
  service_tier: text,
});
