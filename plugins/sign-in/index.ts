import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { signInDiagnosis } from './diagnosis.ts';
import { keyPage, rotatePage } from './key-page.ts';
import { isLocalSignInOn, localSignInSection } from './local-section.ts';
import { routeProviders } from './providers/routes.ts';
import { listProviders, signInSection } from './section.ts';
import { signInPage } from './sign-in-page.ts';
import { signInsPage } from './sign-ins-page.ts';

const noProvider = 'nobody can sign in: sign_in in gateway.yaml has no provider. Add google or github: docs/sign-in.md';

/** If there is no provider, keys come from the operator. */
function describeSignIn(host: Pick<Host, 'section' | 'isProduction'>): { value: string; notice?: string } {
  const methods = listProviders(host).map(({ name }) => name);
  if (isLocalSignInOn(host)) methods.push('on this machine without a password');
  return methods.length === 0 ? { value: 'nobody', notice: noProvider } : { value: methods.join(', ') };
}

/** Sign-in, and the page that shows the account's key. */
export const plugin: GatewayPlugin = {
  name: 'sign-in',
  register({ gateway }) {
    gateway.section(signInSection);
    gateway.section(localSignInSection);
    gateway.configReview({ name: 'sign-in', describe: describeSignIn });
    gateway.diagnosis(signInDiagnosis);
    gateway.page(signInPage);
    gateway.page(keyPage);
    gateway.page(rotatePage);
    gateway.page(signInsPage);
    gateway.onConfigured(routeProviders);
  },
};
