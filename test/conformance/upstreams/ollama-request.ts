/**
 * JSON schema (draft-07) of the requests that Ollama's native chat endpoint accepts, as far as the features use them.
 * Source: Ollama API reference, "Generate a chat message"; docs, "Tool calling", "Thinking", "Structured outputs".
 */
import { shape } from '../../support/schemas/shape.ts';

const text = { type: 'string' } as const;
const filled = { type: 'string', minLength: 1 } as const;
const object = { type: 'object' } as const;
const is = (value: string): object => ({ const: value });
const list = (items: object): object => ({ type: 'array', items, minItems: 1 });
const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' };
/** Plain base64, not a data URL. */
const image = { type: 'string', pattern: '^[A-Za-z0-9+/]+=*$' };

const call = shape({ function: shape({ name, arguments: object }) }, { id: filled });
const message = {
  anyOf: [
    shape({ role: is('system'), content: filled }),
    shape({ role: is('user'), content: text }, { images: list(image) }),
    shape({ role: is('assistant'), content: text }, { thinking: filled, tool_calls: list(call) }),
    shape({ role: is('tool'), content: filled, tool_name: name }, { tool_call_id: filled }),
  ],
};
const tool = shape({
  type: is('function'),
  function: shape({ name, description: text, parameters: object }),
});

export const ollamaRequestSchema = shape(
  { model: filled, messages: list(message), stream: { type: 'boolean' } },
  {
    tools: list(tool),
    format: { anyOf: [is('json'), object] },
    think: { enum: [true, false, 'low', 'medium', 'high'] },
    options: shape({}, { num_predict: { type: 'integer', minimum: 1 }, stop: list(filled) }),
  },
);
