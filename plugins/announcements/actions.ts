import { ActionRefused } from '#core/business/operator-actions/action-kind.ts';
import {
  defineAction,
  type InputOf,
  lines,
  type SubjectKind,
  text,
  time,
} from '#core/business/operator-actions/action-kind.ts';
import {
  describeChoice,
  describeAsIs,
  describeQuoted,
  describeSince,
  type MemberDescriber,
  describeUntil,
  describeFlag,
} from '#core/business/operator-actions/member-describers.ts';
import { boolean, object } from '#core/platform/schema.ts';

/*
 * Actions on announcements. Their implementation is imported on use: loading MikroORM would slow down every command.
 */

const announcements = () => import('./announcements.ts');

/** Members of an announcement. */
const members = {
  kind: {
    enum: ['maintenance', 'note'],
    description: 'maintenance: shown a week ahead with its span. note: during it.',
  },
  audience: { enum: ['all', 'customers'], description: 'customers: on their home page, not on the status page.' },
  since: time,
  until: time,
  model: text('The model that it is about; default: the whole service.'),
  text_en: lines('What happens, in English.', 300),
  text_id: lines('What happens, in Indonesian.', 300),
} as const;
const required = ['kind', 'audience', 'since', 'until', 'text_en', 'text_id'] as const;

const input = object(required, members);

type AnnouncementInput = InputOf<typeof input>;

function inputOf({ text_en: en, text_id: id, ...words }: AnnouncementInput) {
  return { model: undefined, ...words, text: { en: en.trim(), id: id.trim() } };
}

/** Shared subject of all records: an announcement that has ended has no page. */
const all: SubjectKind = { name: 'announcements' };
const one: SubjectKind = {
  name: 'announcement',
  async find({ database }, handle) {
    const { findAnnouncement } = await import('./announcements.ts');
    const announcement = await findAnnouncement(database, handle);
    if (announcement !== undefined) return { id: announcement.id, recordedAt: all.name };
    throw new ActionRefused(`Announcement ${handle} not found.`, 'not_found');
  },
};

const inLanguage =
  (own: string): MemberDescriber<string> =>
  (said, telling) =>
    telling.language === own ? describeQuoted(said, telling) : '';
const tells = {
  kind: describeChoice('operator.announcement_kind'),
  audience: describeChoice('operator.audience'),
  model: describeAsIs,
  since: describeSince,
  until: describeUntil,
  text_en: inLanguage('en'),
  text_id: inLanguage('id'),
};

export const createAction = defineAction({
  name: 'announcement.create',
  subject: all,
  summary: 'announce something to customers for a span, in both languages, and mail it where wanted',
  input: object(required, {
    ...members,
    mail: boolean('Whether accounts with paid time get a mail; about a model, those that used it in 30 days.'),
  }),
  tells: { ...tells, mail: describeFlag('operator.told.mail') },
  async perform(host, _id, { mail: isMailed = false, ...words }, operator) {
    const { createAnnouncement } = await announcements();
    const { id, mailCount } = await createAnnouncement(host, inputOf(words), { createdBy: operator.name, isMailed });
    return { announcement: id, mails: mailCount };
  },
});

export const changeAction = defineAction({
  name: 'announcement.change',
  subject: one,
  summary: 'change an announcement that has not ended; sends no further mail',
  input,
  tells,
  async perform(host, id, words) {
    await (await announcements()).changeAnnouncement(host, id, inputOf(words));
  },
});

export const endAction = defineAction({
  name: 'announcement.end',
  subject: one,
  summary: 'end an announcement before its time',
  input: object({}),
  isDanger: true,
  async perform({ database }, id) {
    await (await announcements()).endAnnouncement(database, id);
  },
});
