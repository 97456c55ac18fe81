import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/host.ts';

/** `sign_in` in gateway.yaml: providers by name. */
export const signInSection = defineSection({
  name: 'sign_in',
  fixed: true,
  schema: {
    type: 'object',
    description: 'Sign-in providers by name: google, github. Changes take effect at the next start.',
    default: {},
    additionalProperties: {
      type: 'object',
      properties: {
        client_id: { type: 'string', description: 'Client id of the app that you registered at the provider.' },
        client_secret: { type: 'string', writeOnly: true, description: 'Its client secret.' },
      },
      required: ['client_id', 'client_secret'],
      additionalProperties: false,
    },
  },
});

/** Names of the providers with a client id. */
export function configuredProviders({ section }: Pick<Host, 'section'>): string[] {
  return Object.entries(section(signInSection)).flatMap(([name, { client_id }]) => (client_id === '' ? [] : [name]));
}
