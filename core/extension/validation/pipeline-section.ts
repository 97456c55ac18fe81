import type { Registry } from '../registry.ts';
import { allowNull } from '#core/config/file/editor-schema.ts';
import type { Section } from '#core/config/section.ts';

/** The pipeline's section knows the options of every registered stage. */
export function pipelineSection(registry: Registry): Section {
  const stages = [...registry.stages.values()];
  return {
    name: 'pipeline',
    schema: {
      type: 'array',
      description: 'The stages that every request passes through, in this order.',
      minItems: 1,
      items: {
        anyOf: [
          { enum: stages.map(({ name }) => name) },
          {
            type: 'object',
            properties: Object.fromEntries(
              stages.map(({ name, description, options }) => [
                name,
                {
                  description,
                  anyOf: [
                    options.required === undefined ? allowNull(options) : options,
                    { const: false, description: 'Turns the stage off.' },
                  ],
                },
              ]),
            ),
            additionalProperties: false,
            minProperties: 1,
            maxProperties: 1,
          },
        ],
      },
    },
  };
}
