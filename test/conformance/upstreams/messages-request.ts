/**
 * JSON schema (draft-07) of the requests that a Messages upstream accepts, as far as the features use them.
 * Source: Anthropic API reference, "Create a Message".
 */
import { shape } from '../../support/schemas/shape.ts';

const filled = { type: 'string', minLength: 1 } as const;
/** Texts without a visible character are refused. */
const visible = { type: 'string', pattern: '\\S' } as const;
const object = { type: 'object' } as const;
const flag = { type: 'boolean' } as const;
const is = (value: string): object => ({ const: value });
const list = (items: object): object => ({ type: 'array', items, minItems: 1 });
const name = { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' };
const callId = { type: 'string', pattern: '^[A-Za-z0-9_-]+$' };

/** Any block, and any tool, may end what is cached. */
const breakpoint = { cache_control: shape({ type: is('ephemeral') }) };

const text = shape({ type: is('text'), text: visible }, breakpoint);
const mediaType = { enum: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] };
const image = shape({
  type: is('image'),
  source: {
    anyOf: [
      shape({ type: is('base64'), media_type: mediaType, data: filled }),
      shape({ type: is('url'), url: { type: 'string', pattern: '^https:' } }),
    ],
  },
});
const result = shape(
  { type: is('tool_result'), tool_use_id: callId },
  { content: { anyOf: [filled, list({ anyOf: [text, image] })] }, is_error: flag, ...breakpoint },
);
const answer = {
  anyOf: [
    shape({ type: is('text'), text: visible }, { citations: { type: 'null' }, ...breakpoint }),
    shape({ type: is('thinking'), thinking: { type: 'string' }, signature: filled }),
    shape(
      { type: is('tool_use'), id: callId, name, input: object },
      { caller: shape({ type: is('direct') }), ...breakpoint },
    ),
  ],
};
const message = {
  anyOf: [
    shape({ role: is('user'), content: { anyOf: [visible, list({ anyOf: [text, image, result] })] } }),
    shape({ role: is('assistant'), content: { anyOf: [visible, list(answer)] } }),
  ],
};
const tool = shape(
  { name, input_schema: { type: 'object', required: ['type'], properties: { type: is('object') } } },
  { description: filled, strict: flag, ...breakpoint },
);

export const messagesRequestSchema = shape(
  { model: filled, max_tokens: { type: 'integer', minimum: 1 }, messages: list(message) },
  {
    system: { anyOf: [visible, list(text)] },
    tools: list(tool),
    tool_choice: shape({ type: { enum: ['auto', 'any', 'none'] } }, { disable_parallel_tool_use: flag }),
    thinking: shape({ type: is('enabled'), budget_tokens: { type: 'integer', minimum: 1_024 } }),
    output_config: shape({ format: shape({ type: is('json_schema'), schema: object }) }),
    stop_sequences: list(visible),
    cache_control: object,
    stream: flag,
  },
);
