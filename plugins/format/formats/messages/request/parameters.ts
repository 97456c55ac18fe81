import { leastBudget } from '../../../canonical/reasoning.ts';
import {
  boolean,
  integer,
  number,
  object,
  objects,
  parameters,
  nonEmptyObjects,
  text,
  textOr,
  texts,
  word,
} from '../../contract/parameters.ts';

/** Bounds that requests are brought to. Sources: Anthropic API reference, "Create a Message"; docs, "Extended thinking". */
export const messagesBounds = {
  temperature: 1,
  /** Least `top_p` that is accepted together with thinking. */
  thinkingTopP: 0.95,
  /** Fewest tokens of a thinking budget. */
  thinkingTokens: leastBudget,
  userLength: 256,
} as const;

/** Source: Anthropic API reference, "Create a Message". */
export const messagesParameters = parameters({
  messages: nonEmptyObjects,
  stream: boolean,
  system: textOr(objects),
  max_tokens: integer(1),
  temperature: number(0, messagesBounds.temperature),
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
