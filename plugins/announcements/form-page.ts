import { sendsMail } from '#core/business/mail/section.ts';
import { plainPage, type PageSubject } from '#core/web/actions/plain-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { changeAction, createAction, endAction } from './actions.ts';
import { type Announcement, findAnnouncement, isOpen, type StoredAnnouncement } from './announcements.ts';
import { announcementsPath as path } from './resource.ts';

const hour = 3_600_000; // ms

/** Error field of `not_found`: only the model can be missing on these pages. */
const errors = { not_found: 'model', span: 'until', no_mail: 'mail' } as const;

/** `/operator/announcements/new`: creates an announcement. */
export const newAnnouncementPage: Page = plainPage(
  createAction,
  {
    path,
    find(request) {
      const { t, host } = request;
      const now = Math.ceil(host.now() / hour) * hour;
      const draft = { kind: 'note', audience: 'all', from: now, until: now + 24 * hour } as const;
      const mail = sendsMail(host.section)
        ? {}
        : { isDisabled: true, hint: t('operator.act.announcement.error.no_mail') };
      return describe(request, t('operator.act.announcement.create'), draft, { mail });
    },
  },
  { path: `${path}/new`, errors },
);

/** `/operator/announcements/{id}`: changes an announcement that has not ended. */
export const editAnnouncementPage: Page = plainPage(
  changeAction,
  {
    path,
    async find(request) {
      const { t } = request;
      const announcement = await requireAnnouncement(request);
      const { id } = announcement;
      const other = { path: `${path}/${id}/end`, label: t('operator.act.announcement.end') };
      const question = t('operator.act.announcement.change.question');
      return { ...describe(request, question, announcement), id, other };
    },
  },
  { path: `${path}/{id}`, title: 'operator.act.announcement.change.question', errors },
);

/** `/operator/announcements/{id}/end`: asks whether to end an announcement early. */
export const endPage: Page = plainPage(endAction, {
  path: `${path}/{id}`,
  async find(request) {
    const { id, text: said } = await requireAnnouncement(request);
    return { id, name: said[request.language], path };
  },
});

/** @throws PageError 404 for an announcement that does not exist or has ended */
async function requireAnnouncement({ host, params }: PageRequest): Promise<StoredAnnouncement> {
  const announcement = await findAnnouncement(host.database, params['id'] ?? '');
  if (announcement !== undefined && isOpen(announcement, host.now())) return announcement;
  return notFound('operator.announcement_unknown', { path, label: 'operator.announcements' });
}

function describe(
  { t, host }: PageRequest,
  question: string,
  { kind, audience, model, text: said, from, until }: Partial<Announcement> & Pick<Announcement, 'from' | 'until'>,
  fields: PageSubject['fields'] = {},
): PageSubject {
  const known = host.catalog.models.map(({ publicName }) => publicName);
  const models = model === undefined || known.includes(model) ? known : [model, ...known];
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
      text_en: { value: said?.en },
      text_id: { value: said?.id },
      ...fields,
    },
  };
}
