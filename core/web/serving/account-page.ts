import { join } from 'node:path';
import type { Page } from '../pages/page.ts';
import { wellKnownPaths } from '../pages/well-known-paths.ts';

/** Every page of the account with language, theme and sign-out: where "Account" in the bar at the bottom of phones leads. */
export const accountPage: Page = {
  path: wellKnownPaths.account,
  role: 'account',
  title: 'layout.account',
  template: join(import.meta.dirname, '..', '..', '..', 'views', 'account.eta'),
  show: () => ({}),
};
