import { defineSection } from '#core/config/section.ts';

/** `operators` in gateway.yaml: who may see the operator's pages. */
export const operatorsSection = defineSection({
  name: 'operators',
  schema: {
    type: 'array',
    description: 'E-mail addresses of the accounts that may view the operator pages.',
    items: { type: 'string', pattern: '^[^@\\s]+@[^@\\s]+$', maxLength: 320, description: 'An e-mail address.' },
    default: [],
  },
});
