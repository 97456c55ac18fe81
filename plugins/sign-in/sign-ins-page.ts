import { listIdentities, unlinkIdentity } from '#core/business/accounts/identity-links.ts';
import { object, string } from '#core/platform/schema.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, defineForm, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describeDevice } from '#core/web/sessions/device.ts';
import { sessionsOf, signInPath } from '#core/web/sessions/sign-in.ts';
import { createLinkTokenPurpose } from './link-intent.ts';
import { readErrorText, formatStartUrl } from './offered.ts';
import { listProviders, getProviderTitle } from './section.ts';

const path = '/account/sign-ins';
const identifier = string({ minLength: 1, maxLength: 300 });

/** Responds with a link, not a redirect, because the content security policy lets forms lead only to this site. */
const linkForm = defineForm({
  path: `${path}/link`,
  fields: object(['provider'], { provider: identifier }),
  submit({ provider }, request) {
    const found = listProviders(request.host).find(({ name }) => name === provider);
    if (found === undefined) throw new PageError(404, 'sign_in.unknown');
    const link = request.formToken(createLinkTokenPurpose(provider));
    return { adding: { title: found.title, url: formatStartUrl(request.host, provider, { link }) } };
  },
});

const unlinkForm = defineForm({
  path: `${path}/unlink`,
  fields: object(['provider', 'subject'], { provider: identifier, subject: identifier }),
  async submit(identity, request) {
    const result = await unlinkIdentity(request.host.database, accountOf(request).id, identity);
    if (result === 'not_linked') throw new PageError(404, 'sign_in.unknown');
    return new Redirect(`${path}?${result === 'unlinked' ? 'unlinked' : 'error=is_last'}`);
  },
});

const revokeForm = defineForm({
  path: `${path}/revoke`,
  fields: object(['session'], { session: identifier }),
  async submit({ session }, request) {
    if (session === request.sessionId) {
      await request.signOut();
      return new Redirect(signInPath);
    }
    const isEnded = await sessionsOf(request.host).revoke(accountOf(request).id, session);
    if (!isEnded) throw new PageError(404, 'sign_in.unknown');
    return new Redirect(`${path}?ended`);
  },
});

const revokeAllForm = defineForm({
  path: `${path}/revoke-all`,
  fields: { type: 'object' },
  async submit(_input, request) {
    await sessionsOf(request.host).revokeAll(accountOf(request).id);
    await request.signOut();
    return new Redirect(signInPath);
  },
});

const noticeTexts = { linked: 'sign_in.linked', unlinked: 'sign_in.unlinked', ended: 'sign_in.session_ended' } as const;

export const signInsPage: Page = {
  path,
  role: 'account',
  title: 'sign_in.list.title',
  navigation: { label: 'sign_in.list.navigation', icon: 'account', order: 40, place: 'menu' },
  template: 'sign-in/sign-ins.eta',
  async show(request) {
    const { host, query, t } = request;
    const [identities, sessions] = await Promise.all([describeIdentities(request), describeSessions(request)]);
    const notice = Object.entries(noticeTexts).find(([name]) => name in query)?.[1];
    return {
      notice: notice === undefined ? '' : t(notice),
      error: readErrorText(request, ['of_other_account', 'is_last']),
      adding: undefined,
      identities,
      sessions,
      offered: listProviders(host).map(({ name, title }) => {
        const isLinked = identities.some(({ provider }) => provider === name);
        return { name, label: t(isLinked ? 'sign_in.add_another' : 'sign_in.add', { provider: title }) };
      }),
    };
  },
  forms: [linkForm, unlinkForm, revokeForm, revokeAllForm],
};

async function describeIdentities(request: PageRequest) {
  const { host, format } = request;
  const titles = new Map(listProviders(host).map(({ name, title }) => [name, title]));
  const identities = await listIdentities(host.database, accountOf(request).id);
  return identities.map(({ provider, subject, email, name, lastUsedAt }) => ({
    provider,
    subject,
    title: provider === 'local' ? request.t('sign_in.local') : (titles.get(provider) ?? getProviderTitle(provider)),
    person: email ?? name,
    lastUsed: format.time(lastUsedAt),
    canUnlink: identities.length > 1,
  }));
}

async function describeSessions(request: PageRequest) {
  const sessions = await sessionsOf(request.host).list(accountOf(request).id);
  return sessions.map(({ id: session, userAgent, lastUsedAt }) => ({
    id: session,
    device: describeDevice(userAgent) || request.t('sign_in.unknown_device'),
    lastUsed: request.format.time(lastUsedAt),
    isThis: session === request.sessionId,
  }));
}
