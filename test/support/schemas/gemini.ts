/**
 * JSON schemas (draft-07) of what a generateContent client receives. Sources: Gemini API reference, "GenerateContentResponse", "Content";
 * Gemini CLI and @google/genai for required properties.
 */
import { shape } from './shape.ts';

const text = { type: 'string' } as const;
const someText = { type: 'string', minLength: 1 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const is = (value: unknown): object => ({ const: value });
/** Bytes as base64: typed clients accept nothing else. */
const bytes = {
  type: 'string',
  pattern: '^(?:[A-Za-z0-9+/]{4})+$|^(?:[A-Za-z0-9+/]{4})*[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=)$',
};
const tagged = { thoughtSignature: bytes };

const part = {
  anyOf: [
    shape({ text }, tagged),
    shape({ text: someText, thought: is(true) }),
    shape({ functionCall: shape({ id: someText, name: someText, args: { type: 'object' } }) }, tagged),
  ],
};
const content = shape({ role: is('model'), parts: { type: 'array', minItems: 1, items: part } });
const usageMetadata = shape(
  { promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count },
  { cachedContentTokenCount: count, thoughtsTokenCount: count },
);
const grounding = shape({
  groundingChunks: { type: 'array', minItems: 1, items: shape({ web: shape({ uri: someText }, { title: someText }) }) },
  groundingSupports: {
    type: 'array',
    items: shape({
      segment: shape({ startIndex: count, endIndex: count, text: someText }),
      groundingChunkIndices: { type: 'array', minItems: 1, items: count },
    }),
  },
});
const finishReason = { enum: ['STOP', 'MAX_TOKENS', 'SAFETY'] };
const reply = (candidate: object) =>
  shape({
    candidates: { type: 'array', minItems: 1, maxItems: 1, items: candidate },
    usageMetadata,
    modelVersion: someText,
    responseId: someText,
  });

/** The answer to a non-streaming request, and the last chunk of a stream. */
export const wholeReplySchema = reply(shape({ content, finishReason, index: is(0) }, { groundingMetadata: grounding }));
export const chunkSchema = reply(shape({ content, index: is(0) })); // before the last

/** An error body, and the chunk that ends a stream with an error. */
export const errorSchema = shape({
  error: shape({
    code: { type: 'integer', minimum: 400, maximum: 599 },
    message: someText,
    status: { type: 'string', pattern: '^[A-Z_]+$' },
  }),
});
