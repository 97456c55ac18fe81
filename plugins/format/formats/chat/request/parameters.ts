import { textsOf } from '../../../wire/members.ts';
import {
  boolean,
  entriesOf,
  falseBecause,
  integer,
  number,
  object,
  objects,
  objectWith,
  parameters,
  seed,
  text,
  textOr,
  textOrObject,
  texts,
  word,
} from '../../contract/parameters.ts';
import type { ChatRequest } from '../../../wire/chat.ts';

/** Source: OpenAI API reference, "Create chat completion". */
export const chatParameters = parameters({
  messages: entriesOf(objectWith('role', text)),
  stream: boolean,
  stream_options: object,
  'stream_options.include_usage': boolean,
  n: integer(1, 128),
  max_tokens: integer(1),
  max_completion_tokens: integer(1),
  temperature: number(0, 2),
  top_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  seed,
  stop: textOr(texts),
  tools: objects,
  functions: objects,
  tool_choice: textOrObject,
  parallel_tool_calls: boolean,
  reasoning_effort: text,
  response_format: object,
  // The last two are what vLLM and SGLang, and Fireworks, have besides.
  'response_format.type': word(
    ['text', 'json_object', 'json_schema', 'structural_tag', 'grammar'],
    'text, json_object or json_schema',
  ),
  logit_bias: object,
  logprobs: boolean,
  // vLLM takes -1 for all.
  top_logprobs: integer(-1),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
  store: boolean,
  metadata: object,
  // xAI
  deferred: falseBecause(
    'a deferred completion can be fetched only with the key of this service at the vendor. Use POST /v1/responses with ' +
      '`background: true`',
  ),
});

/** The stop sequences of a request. */
export function reportedStops({ stop }: ChatRequest): readonly string[] {
  return textsOf(stop);
}

/** True when a request asks for a single answer, which can be decoded and encoded again. */
export function isSingleAnswer({ n }: ChatRequest): boolean {
  return typeof n !== 'number' || n <= 1;
}
