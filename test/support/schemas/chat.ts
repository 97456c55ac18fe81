/**
 * JSON schemas (draft-07) of what a Chat Completions client receives. Sources: OpenAI API reference, "The chat completion object" and "The
 * chat completion chunk object". `reasoning_content` and `reasoning_details` are additions of DeepSeek and OpenRouter.
 */
import { shape } from './shape.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;
const filled = { type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const is = (value: string | null | number): object => ({ const: value });
const list = (items: object, minItems = 0): object => ({ type: 'array', items, minItems });

const head = { id: { type: 'string', pattern: '^chatcmpl-.+' }, created: count, model: filled };
const usage = shape({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: shape({ cached_tokens: count, audio_tokens: count }, { cache_write_tokens: count }),
  completion_tokens_details: shape({
    reasoning_tokens: count,
    audio_tokens: count,
    accepted_prediction_tokens: count,
    rejected_prediction_tokens: count,
  }),
});
const reason = { enum: ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] };

const annotation = shape({
  type: is('url_citation'),
  url_citation: shape({ url: text, title: text, start_index: count, end_index: count }),
});
const tagged = shape({ type: is('reasoning.encrypted'), data: filled, index: count, text_length: count });
const oldCall = shape({ name: filled, arguments: text });
const call = {
  anyOf: [
    shape({ id: filled, type: is('function'), function: oldCall }),
    shape({ id: filled, type: is('custom'), custom: shape({ name: filled, input: text }) }),
  ],
};
const added = { annotations: list(annotation, 1), reasoning_content: filled, reasoning_details: list(tagged, 1) };

const message = {
  ...shape(
    { role: is('assistant'), content: textOrNull, refusal: textOrNull },
    { ...added, tool_calls: list(call, 1), function_call: oldCall },
  ),
  // Empty content is null next to calls and refusals, and otherwise an empty text.
  anyOf: [
    { required: ['tool_calls'] },
    { required: ['function_call'] },
    { properties: { refusal: text } },
    { properties: { content: text } },
  ],
};

const tier = { service_tier: filled }; // if the upstream states it

export const wholeReplySchema = shape(
  {
    ...head,
    object: is('chat.completion'),
    choices: {
      ...list(shape({ index: is(0), message, logprobs: is(null), finish_reason: reason }), 1),
      maxItems: 1,
    },
    usage,
  },
  tier,
);

const openingCall = {
  anyOf: [
    shape({
      index: count,
      id: filled,
      type: is('function'),
      function: shape({ name: filled, arguments: text }),
    }),
    shape({ index: count, id: filled, type: is('custom'), custom: shape({ name: filled, input: text }) }),
  ],
};
/** Has neither id nor name, because SDKs would append them. */
const nextOfCall = {
  anyOf: [
    shape({ index: count, function: shape({ arguments: filled }) }),
    shape({ index: count, custom: shape({ input: filled }) }),
  ],
};

const deltas = {
  role: shape({ role: is('assistant'), content: { enum: ['', null] }, refusal: is(null) }),
  content: shape({ content: filled }),
  refusal: shape({ refusal: filled }),
  reasoning_content: shape({ reasoning_content: filled }),
  reasoning_details: shape({ reasoning_details: list(tagged, 1) }),
  annotations: shape({ annotations: list(annotation, 1) }),
  tool_calls: shape({ tool_calls: { ...list({ anyOf: [openingCall, nextOfCall] }, 1), maxItems: 1 } }),
  function_call: shape({ function_call: { anyOf: [oldCall, shape({ arguments: filled })] } }),
} as const;

function chunk(delta: object, finish: object): object {
  const choice = shape({ index: is(0), delta, logprobs: is(null), finish_reason: finish });
  return shape(
    { ...head, object: is('chat.completion.chunk'), choices: { ...list(choice, 1), maxItems: 1 } },
    { usage: is(null), ...tier },
  );
}

const chunks = Object.fromEntries(Object.entries(deltas).map(([name, delta]) => [name, chunk(delta, is(null))]));

/** Schemas of a chunk, by its delta; `finish` and `usage` are the last two chunks. */
export const eventSchema: Readonly<Record<string, object>> = {
  ...chunks,
  finish: chunk(shape({}, { content: is('') }), reason),
  usage: shape(
    {
      ...head,
      object: is('chat.completion.chunk'),
      choices: { type: 'array', maxItems: 0 },
      usage,
    },
    tier,
  ),
};

export function eventType(event: {
  readonly choices?: readonly { readonly delta?: object; readonly finish_reason?: unknown }[];
}): string {
  const [choice] = event.choices ?? [];
  if (choice === undefined) return 'usage';
  if (choice.finish_reason !== null) return 'finish';
  return Object.keys(choice.delta ?? {})[0] ?? 'nothing';
}

/** Errors as bodies and inside a stream. */
export const errorSchema = shape({
  error: shape({ message: filled, type: filled, param: textOrNull, code: textOrNull }),
});
