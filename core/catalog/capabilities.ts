import type { Infer, JsonSchema } from '../schema.ts';
import type { Settled } from './settled.ts';

const flag = { type: 'boolean' } as const;

/** What a model can do on a route. All true where nothing else is configured. */
export const capabilitiesSchema = {
  type: 'object',
  description: 'What the model can do there. What is left out is what the vendor’s models usually can.',
  properties: {
    images: { ...flag, description: 'Reads pictures.' },
    files: { ...flag, description: 'Reads documents, PDF for instance.' },
    audio: { ...flag, description: 'Hears.' },
    tools: { ...flag, description: 'Calls tools.' },
    parallel_tools: { ...flag, description: 'Calls several tools at once.' },
    reasoning: { ...flag, description: 'Thinks before it answers, when asked to.' },
    structured_output: {
      type: 'string',
      enum: ['schema', 'object', 'none'],
      description: 'Answers in JSON: by a schema, as any object, or only as far as the prompt can make it.',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `capabilities` as gateway.yaml has them. */
export type CapabilitySettings = Infer<typeof capabilitiesSchema>;

/** What a model can do on a route. */
export type Capabilities = Settled<CapabilitySettings>;

/** What holds where neither vendor nor operator has configured anything. */
export const defaultCapabilities: Capabilities = {
  images: true,
  files: true,
  audio: true,
  tools: true,
  parallel_tools: true,
  reasoning: true,
  structured_output: 'schema',
};
