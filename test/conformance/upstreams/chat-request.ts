/**
 * JSON schema (draft-07) of the requests that a Chat Completions upstream accepts, as far as the features use them.
 * Source: OpenAI API reference, "Create chat completion".
 */
import { shape } from '../../support/schemas/shape.ts';

const text = { type: 'string' } as const;
const filled = { type: 'string', minLength: 1 } as const;
const object = { type: 'object' } as const;
const flag = { type: 'boolean' } as const;
const positive = { type: 'integer', minimum: 1 } as const;
const is = (value: string): object => ({ const: value });
const list = (items: object): object => ({ type: 'array', items, minItems: 1 });
const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };

const textPart = shape({ type: is('text'), text: filled });
const imagePart = shape({
  type: is('image_url'),
  image_url: shape(
    { url: { type: 'string', pattern: '^(https:|data:image/)' } },
    { detail: { enum: ['auto', 'low', 'high'] } },
  ),
});
const content = { anyOf: [filled, list(textPart)] };
const call = {
  anyOf: [
    shape({ id: filled, type: is('function'), function: shape({ name, arguments: filled }) }),
    shape({ id: filled, type: is('custom'), custom: shape({ name, input: text }) }),
  ],
};
const message = {
  anyOf: [
    shape({ role: { enum: ['system', 'developer'] }, content }),
    shape({ role: is('user'), content: { anyOf: [filled, list({ anyOf: [textPart, imagePart] })] } }),
    // Members that OpenAI does not have are those that clients of this format return.
    shape(
      { role: is('assistant'), content: { anyOf: [{ type: 'null' }, content] } },
      { refusal: { type: ['string', 'null'] }, tool_calls: list(call), reasoning_content: text },
    ),
    shape({ role: is('tool'), tool_call_id: filled, content }),
  ],
};
const grammar = shape({
  type: is('grammar'),
  grammar: shape({ syntax: { enum: ['lark', 'regex'] }, definition: filled }),
});
const tool = {
  anyOf: [
    shape({
      type: is('function'),
      function: shape({ name }, { description: filled, parameters: object, strict: flag }),
    }),
    shape({ type: is('custom'), custom: shape({ name }, { description: filled, format: grammar }) }),
  ],
};

export const chatRequestSchema = shape(
  { model: filled, messages: list(message) },
  {
    tools: list(tool),
    parallel_tool_calls: flag,
    tool_choice: { enum: ['auto', 'none', 'required'] },
    reasoning_effort: { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] },
    response_format: shape({
      type: is('json_schema'),
      json_schema: shape({ name, schema: object }, { strict: flag, description: filled }),
    }),
    stop: { ...list(filled), maxItems: 4 },
    max_completion_tokens: positive,
    stream: flag,
    stream_options: shape({ include_usage: flag }),
  },
);
