/**
 * JSON schema (draft-07) of the requests that a Responses upstream accepts, as far as the features use them.
 * Source: OpenAI API reference, "Create a model response".
 */
import { shape } from '../../support/schemas/shape.ts';

const text = { type: 'string' } as const;
const filled = { type: 'string', minLength: 1 } as const;
const object = { type: 'object' } as const;
const flag = { type: 'boolean' } as const;
const is = (value: string): object => ({ const: value });
const list = (items: object, minItems = 1): object => ({ type: 'array', items, minItems });
const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };
const callId = { type: 'string', minLength: 1, maxLength: 64 };
const status = { enum: ['in_progress', 'completed', 'incomplete'] };

const inputText = shape({ type: is('input_text'), text: filled });
const inputImage = shape(
  { type: is('input_image'), image_url: { type: 'string', pattern: '^(https:|data:image/)' } },
  { detail: { enum: ['low', 'high', 'auto', 'original'] } },
);
const outputText = shape(
  { type: is('output_text'), text: filled },
  { annotations: list({}, 0), logprobs: list({}, 0) },
);
const refusal = shape({ type: is('refusal'), refusal: filled });
const output = { anyOf: [text, list({ anyOf: [inputText, inputImage] })] };
const kept = { id: filled, status };

const item = {
  anyOf: [
    shape(
      {
        type: is('message'),
        role: { enum: ['user', 'developer', 'system'] },
        content: list({ anyOf: [inputText, inputImage] }),
      },
      kept,
    ),
    shape({ type: is('message'), role: is('assistant'), content: list({ anyOf: [outputText, refusal] }) }, kept),
    shape({ type: is('function_call'), call_id: callId, name, arguments: filled }, kept),
    shape({ type: is('function_call_output'), call_id: callId, output }, kept),
    shape({ type: is('custom_tool_call'), call_id: callId, name, input: text }, kept),
    shape({ type: is('custom_tool_call_output'), call_id: callId, output }, kept),
    // A stateless upstream cannot use the item without its encrypted content.
    shape(
      {
        type: is('reasoning'),
        summary: list(shape({ type: is('summary_text'), text: filled }), 0),
        encrypted_content: filled,
      },
      kept,
    ),
  ],
};
const tool = {
  anyOf: [
    shape(
      {
        type: is('function'),
        name,
        parameters: { anyOf: [{ type: 'null' }, object] },
        strict: { type: ['boolean', 'null'] },
      },
      { description: filled },
    ),
    shape(
      {
        type: is('custom'),
        name,
        format: shape({ type: is('grammar'), syntax: { enum: ['lark', 'regex'] }, definition: filled }),
      },
      { description: filled },
    ),
  ],
};

export const responsesRequestSchema = shape(
  { model: filled, input: list(item) },
  {
    instructions: filled,
    tools: list(tool),
    tool_choice: { enum: ['auto', 'none', 'required'] },
    parallel_tool_calls: flag,
    reasoning: shape({}, { effort: { enum: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] }, summary: filled }),
    text: shape({
      format: shape({ type: is('json_schema'), name, schema: object }, { strict: flag, description: filled }),
    }),
    max_output_tokens: { type: 'integer', minimum: 16 },
    include: list(is('reasoning.encrypted_content')),
    store: { const: false },
    stream: flag,
  },
);
