import { defineSection } from '#core/config/section.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { listProviders } from './section.ts';

export const localSignInSection = defineSection({
  name: 'local_sign_in',
  schema: {
    enum: ['auto', 'always', 'never'],
    description:
      'Lets browsers on the gateway’s own machine sign in with a name and e-mail address, without a password. auto: on if `sign_in` has no provider, NODE_ENV is not production, and service.base_url points to this machine. always: on even with a provider; rejected in production. never: off.',
    default: 'auto',
  },
  check(mode, report, { production }) {
    if (mode === 'always' && production !== undefined)
      report(
        ['local_sign_in'],
        `is "always", which lets anyone on this machine sign in as anyone, ${production.because}`,
        `remove it and configure a provider in sign_in, such as sign_in: { google: { client_id: …, client_secret: … } }${production.unless}`,
      );
  },
});

/** The caller must also check that the request comes from this machine. */
export function isLocalSignInOn(host: Pick<Host, 'section' | 'isProduction'>): boolean {
  if (host.isProduction) return false;
  const mode = host.section(localSignInSection);
  return mode === 'always' || (mode === 'auto' && listProviders(host).length === 0);
}
