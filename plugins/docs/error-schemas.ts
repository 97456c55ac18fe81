import type { Dialect } from '#core/platform/errors/table.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;

/** The error bodies of each dialect, as `core/gateway/pipeline/render-error.ts` writes them. */
export const errorSchemas: Readonly<Record<`${Dialect}_error`, JsonSchema>> = {
  openai_error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { message: text, type: text, param: textOrNull, code: textOrNull },
        required: ['message', 'type', 'param', 'code'],
      },
    },
    required: ['error'],
  },
  anthropic_error: {
    type: 'object',
    properties: {
      type: { const: 'error' },
      error: { type: 'object', properties: { type: text, message: text }, required: ['type', 'message'] },
      request_id: text,
    },
    required: ['type', 'error', 'request_id'],
  },
  google_error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code: { type: 'integer' }, message: text, status: text },
        required: ['code', 'message', 'status'],
      },
    },
    required: ['error'],
  },
};
