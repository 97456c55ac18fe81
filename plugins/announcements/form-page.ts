import { sendsMail } from '#core/business/mail/section.ts';
import { plainPage, type PageSubject } from '#core/web/actions/plain-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { type Announcement, findAnnouncement, isOpen, type StoredAnnouncement } from './announcements.ts';
import { announcementsPath as path } from './resource.ts';

const hourMs = 3_600_000;

const errorFields = { not_found: 'model', span: 'until', no_mail: 'mail' } as const; // here, `not_found` can only mean the model

export const newAnnouncementPage: Page = plainPage(
  createAction,
  {
    path,
    find(request) {
      const { t, host } = request;
      const now = Math.ceil(host.now() / hourMs) * hourMs;
      const draft = { kind: 'note', audience: 'all', from: now, until: now + 24 * hourMs } as const;
      const mail = sendsMail(host.section)
        ? {}
        : { isDisabled: true, hint: t('operator.act.announcement.error.no_mail') };
      return describeForm(request, t('operator.act.announcement.create'), draft, { mail });
    },
  },
  { path: `${path}/new`, errors: errorFields },
);

export const editAnnouncementPage: Page = plainPage(
  changeAction,
  {
    path,
    async find(request) {
      const { t } = request;
      const announcement = await requireAnnouncement(request);
      const { id } = announcement;
      const endLink = { path: `${path}/${id}/end`, label: t('operator.act.announcement.end') };
      const question = t('operator.act.announcement.change.question');
      return { ...describeForm(request, question, announcement), id, other: endLink };
    },
  },
  { path: `${path}/{id}`, title: 'operator.act.announcement.change.question', errors: errorFields },
);

export const endPage: Page = plainPage(endAction, {
  path: `${path}/{id}`,
  async find(request) {
    const { id, text } = await requireAnnouncement(request);
    return { id, name: text[request.language], path };
  },
});

/** @throws PageError 404 if the announcement does not exist or has ended */
async function requireAnnouncement({ host, params }: PageRequest): Promise<StoredAnnouncement> {
  const announcement = await findAnnouncement(host.database, params['id'] ?? '');
  if (announcement !== undefined && isOpen(announcement, host.now())) return announcement;
  return notFound('operator.announcement_unknown', { path, label: 'operator.announcements' });
}

function describeForm(
  { t, host }: PageRequest,
  question: string,
  { kind, audience, model, text, from, until }: Partial<Announcement> & Pick<Announcement, 'from' | 'until'>,
  fields: PageSubject['fields'] = {},
): PageSubject {
  const modelNames = host.catalog.models.map(({ publicName }) => publicName);
  const models = model === undefined || modelNames.includes(model) ? modelNames : [model, ...modelNames];
  return {
    id: '',
    name: '',
    path,
    question,
    text: t('operator.announcements_text'),
    fields: {
      kind: { value: kind },
      audience: { value: audience },
      since: { value: new Date(from).toISOString() },
      until: { value: new Date(until).toISOString() },
      model: {
        value: model,
        options: [
          { value: '', label: t('operator.announcement_service') },
          ...models.map((name) => ({ value: name, label: name })),
        ],
      },
      text_en: { value: text?.en },
      text_id: { value: text?.id },
      ...fields,
    },
  };
}
