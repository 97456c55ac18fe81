import type { Page } from '../pages/page.ts';
import { wellKnownPaths } from '../pages/well-known-paths.ts';
import { viewPath } from '../pages/views.ts';

/** Every page of the account with language, theme and sign-out: where "Account" in the bar at the bottom of phones leads. */
export const accountPage: Page = {
  path: wellKnownPaths.account,
  role: 'account',
  title: 'layout.account',
  template: viewPath('shell/account.eta'),
  show: () => ({}),
};
