import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/host.ts';
import { configuredProviders } from './section.ts';

/** `local_sign_in` in gateway.yaml. */
export const localSection = defineSection({
  name: 'local_sign_in',
  schema: {
    enum: ['auto', 'always', 'never'],
    description:
      'Sign-in by name and e-mail address without a password, for browsers on the machine of the gateway. auto: while `sign_in` has no provider and NODE_ENV is not production.',
    default: 'auto',
  },
  check(local, report, { isProduction }) {
    if (local === 'always' && isProduction)
      report(
        ['local_sign_in'],
        'is "always", which lets anyone on this machine sign in as anyone',
        'remove it and configure a provider in sign_in, such as sign_in: { google: { client_id: …, client_secret: … } }',
      );
  },
});

/** True when a reader may sign in without a provider. */
export function isLocalSignInOn(host: Pick<Host, 'section' | 'isProduction'>): boolean {
  if (host.isProduction) return false;
  const local = host.section(localSection);
  return local === 'always' || (local === 'auto' && configuredProviders(host).length === 0);
}
