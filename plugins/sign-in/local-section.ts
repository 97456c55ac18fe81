import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { listProviders } from './section.ts';

/** `local_sign_in` in gateway.yaml. */
export const localSection = defineSection({
  name: 'local_sign_in',
  schema: {
    enum: ['auto', 'always', 'never'],
    description:
      'Sign-in by name and e-mail address without a password, for browsers on the machine of the gateway. auto: while `sign_in` has no provider, NODE_ENV is not production and service.base_url is this machine.',
    default: 'auto',
  },
  check(local, report, { production }) {
    if (local === 'always' && production !== undefined)
      report(
        ['local_sign_in'],
        `is "always", which lets anyone on this machine sign in as anyone, ${production.because}`,
        `remove it and configure a provider in sign_in, such as sign_in: { google: { client_id: …, client_secret: … } }${production.unless}`,
      );
  },
});

/** Returns true if a reader may sign in without a provider. */
export function isLocalSignInOn(host: Pick<Host, 'section' | 'isProduction'>): boolean {
  if (host.isProduction) return false;
  const local = host.section(localSection);
  return local === 'always' || (local === 'auto' && listProviders(host).length === 0);
}
