import { boolean, object, string, type Infer } from '#core/platform/schema.ts';
import type { Resolved } from './quirks.ts';

/** Capabilities of a model on a route. All true by default. */
export const capabilitiesSchema = object(
  'Capabilities of the model. Default: the capabilities of the vendor’s models.',
  {
    images: boolean('Accepts image input.'),
    files: boolean('Accepts documents, such as PDF files.'),
    audio: boolean('Accepts audio input.'),
    video: boolean('Accepts video input.'),
    tools: boolean('Supports tool calls.'),
    parallel_tools: boolean('Supports parallel tool calls.'),
    reasoning: boolean('Supports reasoning.'),
    structured_output: string(
      { enum: ['schema', 'object', 'none'] },
      'Structured output: enforced by a JSON Schema, enforced as a JSON object, or only requested in the prompt.',
    ),
  },
);

/** `capabilities` as written in gateway.yaml. */
export type CapabilitySettings = Infer<typeof capabilitiesSchema>;

/** Capabilities of a model on a route. */
export type Capabilities = Resolved<CapabilitySettings>;

/** Capabilities of a model for which neither vendor nor operator has configured any. */
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
