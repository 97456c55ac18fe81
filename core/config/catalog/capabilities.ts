import { boolean, object, string, type Infer } from '#core/platform/schema.ts';
import type { Resolved } from './quirks.ts';

/** What a model can do on a route. By default, everything is true. */
export const capabilitiesSchema = object('What the model can do. Default: the vendor’s preset.', {
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
});

/** `capabilities` as written in gateway.yaml. */
export type CapabilitySettings = Infer<typeof capabilitiesSchema>;

/** What a model can do on a route. */
export type Capabilities = Resolved<CapabilitySettings>;

/** Used if neither the vendor's preset nor gateway.yaml says what a model can do. */
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
