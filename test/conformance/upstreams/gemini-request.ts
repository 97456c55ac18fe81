/**
 * JSON schema (draft-07) of the requests that a generateContent upstream accepts, as far as the features use them.
 * Source: Gemini API reference, "GenerateContent".
 */
import { shape } from '../../support/schemas/shape.ts';

const filled = { type: 'string', minLength: 1 } as const;
const object = { type: 'object' } as const;
const is = (value: string): object => ({ const: value });
const list = (items: object): object => ({ type: 'array', items, minItems: 1 });
const name = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$' };
const tagged = { thoughtSignature: filled };

const inline = shape({ inlineData: shape({ mimeType: filled, data: filled }) });
const shown = [inline, shape({ fileData: shape({ fileUri: filled }, { mimeType: filled }) })];
const response = shape({ name, response: { type: 'object', minProperties: 1 } }, { id: filled, parts: list(inline) });
const content = {
  anyOf: [
    shape({
      role: is('user'),
      parts: list({ anyOf: [shape({ text: filled }), ...shown, shape({ functionResponse: response })] }),
    }),
    shape({
      role: is('model'),
      parts: list({
        anyOf: [
          shape({ text: { type: 'string' } }, { ...tagged, thought: { type: 'boolean' } }),
          shape({ functionCall: shape({ name, args: object }, { id: filled }) }, tagged),
        ],
      }),
    }),
  ],
};
const declaration = shape({ name }, { description: filled, parametersJsonSchema: object });

export const geminiRequestSchema = shape(
  { contents: list(content) },
  {
    systemInstruction: shape({ parts: list(shape({ text: filled })) }),
    tools: list(shape({ functionDeclarations: list(declaration) })),
    toolConfig: shape({ functionCallingConfig: shape({ mode: { enum: ['AUTO', 'ANY', 'NONE', 'VALIDATED'] } }) }),
    generationConfig: shape(
      {},
      {
        responseMimeType: is('application/json'),
        responseJsonSchema: object,
        thinkingConfig: shape(
          { thinkingLevel: { enum: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] } },
          { includeThoughts: { type: 'boolean' } },
        ),
        stopSequences: { ...list(filled), maxItems: 5 },
        maxOutputTokens: { type: 'integer', minimum: 1 },
      },
    ),
  },
);
