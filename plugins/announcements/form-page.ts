import { findAnnouncement, isOpen, type StoredAnnouncement } from './announcements.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import { defineForm, type Page, type PageForm, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { act } from '#core/web/actions/action-page.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { localOf, localTimeField, spanOf } from '#core/web/pages/local-time.ts';
import { type AnnouncementInput, changeAction, createAction, endAction, members, required } from './actions.ts';
import { announcementsPath } from './resource.ts';
import { boolean, object } from '#core/platform/schema.ts';

const hour = 3_600_000; // ms

/** The only thing that may not be found on these pages is the model. */
const errors = {
  not_found: ['model', 'operator.announcement_no_model'],
  span: ['until', 'operator.announcement_span'],
  no_mail: ['mail', 'operator.announcement_no_mail'],
} as const;

/** @param save with the words of the action */
function formOf(
  action: string,
  save: (request: PageRequest, words: AnnouncementInput, isMailed: boolean) => Promise<unknown>,
): PageForm {
  return defineForm({
    fields: object(required, { ...members, since: localTimeField, until: localTimeField, mail: boolean() }),
    once: true,
    async submit({ model = '', since, until, mail = false, ...words }, request) {
      const span = await spanOf(request, since, until);
      await save(request, { ...words, ...span, ...(model !== '' && { model }) }, mail);
      return new Redirect(`${announcementsPath}?done=${action}`);
    },
  });
}

const shared = {
  role: 'operator',
  template: 'announcements/form.eta',
  styles: ['operator.css', 'tables.css'],
} as const;

/** `/operator/announcements/new`: announces something. */
export const newAnnouncementPage: Page = {
  ...shared,
  path: `${announcementsPath}/new`,
  title: 'operator.announce',
  show(request) {
    const now = Math.ceil(request.host.now() / hour) * hour;
    return describe(request, { kind: 'note', audience: 'all', from: now, until: now + 24 * hour });
  },
  forms: [
    formOf(createAction.name, (request, words, isMailed) =>
      act(request, createAction, '', { ...words, ...(isMailed && { mail: true }) }, errors),
    ),
  ],
};

/** `/operator/announcements/{id}`: changes one that has not ended. */
export const editAnnouncementPage: Page = {
  ...shared,
  path: `${announcementsPath}/{id}`,
  title: 'operator.announcement_edit',
  async show(request) {
    return describe(request, await requireAnnouncement(request));
  },
  forms: [
    formOf(changeAction.name, async (request, words) => {
      const { id } = await requireAnnouncement(request);
      return act(request, changeAction, id, words, errors);
    }),
  ],
};

/** `/operator/announcements/{id}/end`: whether one is ended before its time. */
export const endPage: Page = plainPage(endAction, {
  path: `${announcementsPath}/{id}`,
  async find(request) {
    const { id, text: said } = await requireAnnouncement(request);
    return { id, name: said[request.language], path: announcementsPath };
  },
  // Ended, it has no page.
  next: announcementsPath,
});

/** @throws PageError 404 for one that does not exist or has ended */
async function requireAnnouncement({ host, params }: PageRequest): Promise<StoredAnnouncement> {
  const announcement = await findAnnouncement(host.database, params['id'] ?? '');
  if (announcement !== undefined && isOpen(announcement, host.now())) return announcement;
  throw new PageError(404, 'operator.announcement_unknown', {
    action: { path: announcementsPath, label: 'operator.announcements' },
  });
}

type Draft = Pick<StoredAnnouncement, 'kind' | 'audience' | 'from' | 'until'> & Partial<StoredAnnouncement>;

function describe(request: PageRequest, { id, kind, audience, model, text: said, from, until }: Draft) {
  const { t, host, form } = request;
  const value = (name: string, otherwise: string) => form.values[name] ?? otherwise;
  const choices = <const Name extends string>(name: string, names: readonly Name[], labels: string, chosen: string) =>
    names.map((one) => ({ value: one, label: t(`${labels}.${one}`), isChosen: value(name, chosen) === one }));
  const models = host.catalog.models.map(({ publicName }) => publicName);
  const isOther = model !== undefined && !models.includes(model);
  return {
    heading: t(id === undefined ? 'operator.announce' : 'operator.announcement_edit'),
    path: id === undefined ? `${announcementsPath}/new` : `${announcementsPath}/${id}`,
    endPath: id === undefined ? '' : `${announcementsPath}/${id}/end`,
    kinds: choices('kind', ['note', 'maintenance'], 'operator.announcement_kind', kind),
    audiences: choices('audience', ['all', 'customers'], 'operator.audience', audience),
    models: (isOther ? [model, ...models] : models).map((name) => ({
      name,
      isChosen: value('model', model ?? '') === name,
    })),
    since: value('since', localOf(request, from)),
    until: value('until', localOf(request, until)),
    textEn: value('text_en', said?.en ?? ''),
    textId: value('text_id', said?.id ?? ''),
    canMail: sendsMail(host.section),
  };
}
