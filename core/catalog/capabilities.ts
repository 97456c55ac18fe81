import type { Infer, JsonSchema } from '../schema.ts';
import type { Settled } from './settled.ts';

const flag = { type: 'boolean' } as const;

/** What a model can do on a route. All true where nothing else is configured. */
export const capabilitiesSchema = {
  type: 'object',
  description: 'What the model can do; by default what the vendor’s models can.',
  properties: {
    images: { ...flag, description: 'Accepts images.' },
    files: { ...flag, description: 'Accepts documents, such as PDF.' },
    audio: { ...flag, description: 'Accepts audio.' },
    tools: { ...flag, description: 'Calls tools.' },
    parallel_tools: { ...flag, description: 'Calls several tools at once.' },
    reasoning: { ...flag, description: 'Reasons before it answers, when requested.' },
    structured_output: {
      type: 'string',
      enum: ['schema', 'object', 'none'],
      description: 'Answers in JSON: by a schema, as any object, or only by instruction in the prompt.',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `capabilities` as gateway.yaml has them. */
export type CapabilitySettings = Infer<typeof capabilitiesSchema>;

/** What a model can do on a route. */
export type Capabilities = Settled<CapabilitySettings>;

/** The defaults where neither vendor nor operator has configured anything. */
export const defaultCapabilities: Capabilities = {
  images: true,
  files: true,
  audio: true,
  tools: true,
  parallel_tools: true,
  reasoning: true,
  structured_output: 'schema',
};
