import { type ActionKind, type ActionWords, text, time } from './action-kind.ts';
import { boolean, object } from '#core/platform/schema.ts';

/*
 * Announcements to customers. What is done is loaded when it is: MikroORM would slow all commands down.
 */

const announcements = () => import('../announcements/announcements.ts');

const members = {
  kind: {
    enum: ['maintenance', 'note'],
    description: 'maintenance: shown a week ahead with its span. note: during it.',
  },
  audience: { enum: ['all', 'customers'], description: 'customers: on their home page, not on the status page.' },
  model: text('The model that it is about; default: the whole service.'),
  since: time,
  until: time,
  text_en: text('What happens, in English.', 300),
  text_id: text('What happens, in Indonesian.', 300),
} as const;
const required = ['kind', 'audience', 'since', 'until', 'text_en', 'text_id'] as const;

function wordsOf({ kind = 'note', audience = 'all', model, since = '', until = '', ...texts }: ActionWords) {
  const { text_en: en = '', text_id: id = '' } = texts;
  return { kind, audience, model, since, until, text: { en: en.trim(), id: id.trim() } };
}

export const announcementActions: readonly ActionKind[] = [
  {
    name: 'announcement.create',
    subject: 'announcements',
    summary: 'announce something to customers for a span, in both languages, and mail it where wanted',
    input: object(required, {
      ...members,
      mail: boolean('Whether accounts with paid time get a mail; about a model, those that used it in 30 days.'),
    }),
    async perform(host, _id, input, operator) {
      const { createAnnouncement } = await announcements();
      const { id, mails } = await createAnnouncement(host, wordsOf(input), operator.name, input.mail === true);
      return { announcement: id, mails };
    },
  },
  {
    name: 'announcement.change',
    subject: 'announcement',
    summary: 'change an announcement that has not ended; nobody gets a mail again',
    input: object(required, members),
    async perform(host, id, input) {
      await (await announcements()).changeAnnouncement(host, id, wordsOf(input));
    },
  },
  {
    name: 'announcement.end',
    subject: 'announcement',
    summary: 'end an announcement before its time',
    input: object({}),
    async perform({ database }, id) {
      await (await announcements()).endAnnouncement(database, id);
    },
  },
];
