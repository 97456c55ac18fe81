import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Resolved } from './quirks.ts';

const flag = { type: 'boolean' } as const;

/** What a model can do on a route. All true where nothing else is configured. */
export const capabilitiesSchema = {
  type: 'object',
  description: 'Capabilities of the model. Default: those of the vendor’s models.',
  properties: {
    images: { ...flag, description: 'Accepts image input.' },
    files: { ...flag, description: 'Accepts documents, such as PDF files.' },
    audio: { ...flag, description: 'Accepts audio input.' },
    video: { ...flag, description: 'Accepts video input.' },
    tools: { ...flag, description: 'Supports tool calls.' },
    parallel_tools: { ...flag, description: 'Supports parallel tool calls.' },
    reasoning: { ...flag, description: 'Supports reasoning.' },
    structured_output: {
      type: 'string',
      enum: ['schema', 'object', 'none'],
      description:
        'Structured output: enforced by a JSON Schema, enforced as a JSON object, or only requested in the prompt.',
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/** `capabilities` as gateway.yaml has them. */
export type CapabilitySettings = Infer<typeof capabilitiesSchema>;

/** What a model can do on a route. */
export type Capabilities = Resolved<CapabilitySettings>;

/** The defaults where neither vendor nor operator has configured anything. */
export const defaultCapabilities: Capabilities = {
  images: true,
  files: true,
  audio: true,
  video: true,
  tools: true,
  parallel_tools: true,
  reasoning: true,
  structured_output: 'schema',
};
