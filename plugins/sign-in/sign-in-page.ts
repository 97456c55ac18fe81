import { findDemoAccount } from '#core/business/accounts/demo-account.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { object, string } from '#core/platform/schema.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { defineForm, FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { signInPath, signOutPath } from '#core/web/sessions/sign-in.ts';
import { completeSignIn, passRateLimit } from './admit.ts';
import { isLocalSignInOn } from './local-section.ts';
import { chooseNextPath } from './next-path.ts';
import { readErrorText, describeProviders } from './offered.ts';

/** Asks for no password, because users of this machine are trusted. */
const localForm = defineForm({
  fields: object(['email'], {
    name: string({ maxLength: 100 }),
    email: string({ pattern: '^[^@\\s]+@[^@\\s]+$', maxLength: 320 }),
    next: string({ maxLength: 2000 }),
  }),
  async submit({ name = '', email, next }, request) {
    requireLocal(request);
    if (!(await passRateLimit(request.host, request.address))) throw new PageError(429, 'sign_in.too_many');
    const profile = { provider: 'local', subject: email.toLowerCase(), email, name, avatarUrl: undefined };
    const startSession = request.signIn.bind(request);
    const admission = await completeSignIn(request.host, profile, startSession, chooseNextPath(next));
    if (admission.refused !== undefined) throw new FieldErrors({ email: `sign_in.error.${admission.refused}` });
    return new Redirect(admission.path);
  },
});

/** Signs in to the account whose key the gateway printed at startup, so that the dashboard shows the first request. */
const demoForm = defineForm({
  path: `${signInPath}/demo`,
  fields: object({ next: string({ maxLength: 2000 }) }),
  async submit({ next }, request) {
    requireLocal(request);
    const demo = await findDemoAccount(request.host);
    if (demo === undefined) throw new PageError(404, 'sign_in.no_demo');
    await request.signIn(demo.id);
    return new Redirect(chooseNextPath(next));
  },
});

function requireLocal({ host, isThisMachine }: PageRequest): void {
  if (!isLocalSignInOn(host)) throw new PageError(403, 'sign_in.local_off');
  if (!isThisMachine) throw new PageError(403, 'sign_in.local_elsewhere');
}

const signOutForm = defineForm({
  path: signOutPath,
  fields: { type: 'object' },
  async submit(_input, request) {
    await request.signOut();
    return new Redirect('/');
  },
});

const demoTimeoutMs = 1_000;

/** False if the database is unavailable, because the page works without it. */
async function hasDemoAccount(host: Host): Promise<boolean> {
  const lookup = withDeadline(findDemoAccount(host), demoTimeoutMs, `no answer within ${demoTimeoutMs} ms`);
  return (await lookup.catch(() => undefined)) !== undefined;
}

export const signInPage: Page = {
  path: signInPath,
  role: 'public',
  title: 'sign_in.title',
  template: 'sign-in/sign-in.eta',
  async show(request) {
    const { account, form, host, query } = request;
    const next = chooseNextPath(form.values['next'] ?? query['next']);
    if (account !== undefined) return new Redirect(next);
    const local = getLocalSignInState(request);
    return {
      service: host.service.name,
      error: readErrorText(request, ['email_taken', 'blocked']),
      isBlocked: query['error'] === 'blocked',
      providers: describeProviders(host, next),
      next,
      local,
      hasDemo: local === 'on' && (await hasDemoAccount(host)),
    };
  },
  forms: [localForm, demoForm, signOutForm],
};

function getLocalSignInState({ host, isThisMachine }: PageRequest): 'off' | 'on' | 'elsewhere' {
  if (!isLocalSignInOn(host)) return 'off';
  return isThisMachine ? 'on' : 'elsewhere';
}
