import {
  ActionRefused,
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
import { changeAnnouncement, createAnnouncement, endAnnouncement, findAnnouncement } from './announcements.ts';

const members = {
  kind: {
    enum: ['maintenance', 'note'],
    description: 'maintenance: shown from a week before its start, with its times. note: shown only during its period.',
  },
  audience: { enum: ['all', 'customers'], description: 'customers: on their home page, not on the status page.' },
  since: time,
  until: time,
  model: text('The affected model; default: the whole service.'),
  text_en: lines('What happens, in English.', 300),
  text_id: lines('What happens, in Indonesian.', 300),
} as const;
const requiredMembers = ['kind', 'audience', 'since', 'until', 'text_en', 'text_id'] as const;

const input = object(requiredMembers, members);

type AnnouncementInput = InputOf<typeof input>;

function toAnnouncement({ text_en: en, text_id: id, ...submitted }: AnnouncementInput) {
  // An omitted model is cleared.
  return { model: undefined, ...submitted, text: { en: en.trim(), id: id.trim() } };
}

const listSubject: SubjectKind = { name: 'announcements' }; // of all records, because an ended announcement has no page of its own
const announcementSubject: SubjectKind = {
  name: 'announcement',
  async find({ database }, handle) {
    const announcement = await findAnnouncement(database, handle);
    if (announcement !== undefined) return { id: announcement.id, recordedAt: listSubject.name };
    throw new ActionRefused(`Announcement ${handle} not found.`, 'not_found');
  },
};

/** The English and Indonesian texts say the same, so only the one in the reader's language is described. */
const describeInLanguage =
  (textLanguage: string): MemberDescriber<string> =>
  (value, reader) =>
    reader.language === textLanguage ? describeQuoted(value, reader) : '';
const tells = {
  kind: describeChoice('operator.announcement_kind'),
  audience: describeChoice('operator.audience'),
  model: describeAsIs,
  since: describeSince,
  until: describeUntil,
  text_en: describeInLanguage('en'),
  text_id: describeInLanguage('id'),
};

export const createAction = defineAction({
  name: 'announcement.create',
  subject: listSubject,
  summary: 'show customers an announcement for a period, in both languages, and email it if requested',
  input: object(requiredMembers, {
    ...members,
    mail: boolean(
      'Sends an email to accounts with an active plan; for a model, only to accounts that used it in the last 30 days.',
    ),
  }),
  tells: { ...tells, mail: describeFlag('operator.told.mail') },
  async perform(host, _id, { mail: wantsMail = false, ...submitted }, operator) {
    const { id, mailCount } = await createAnnouncement(host, toAnnouncement(submitted), {
      createdBy: operator.name,
      isMailed: wantsMail,
    });
    return { announcement: id, mails: mailCount };
  },
});

export const changeAction = defineAction({
  name: 'announcement.change',
  subject: announcementSubject,
  summary: 'change an announcement that has not ended; sends no further email',
  input,
  tells,
  perform: (host, id, submitted) => changeAnnouncement(host, id, toAnnouncement(submitted)),
});

export const endAction = defineAction({
  name: 'announcement.end',
  subject: announcementSubject,
  summary: 'end an announcement early',
  input: object({}),
  isDanger: true,
  perform: ({ database }, id) => endAnnouncement(database, id),
});
