import { defineSection } from '#core/config/section.ts';
import { models } from '#core/config/sections/models-section.ts';
import { array, object, string } from '#core/platform/schema.ts';
import { isDay } from '#core/platform/timing/time-zone.ts';

const textSchema = string({ minLength: 1, maxLength: 300 });
const timeSchema = string({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?(Z|[+-]\\d\\d:\\d\\d)$' });

export const announcementsSection = defineSection({
  name: 'announcements',
  schema: array(
    {
      default: [],
      maxItems: 20,
      items: object(['text', 'from', 'until'], 'One announcement.', {
        kind: {
          enum: ['maintenance', 'note'],
          default: 'note',
          description:
            'maintenance: planned work, shown from a week before its start, with its times. note: shown only during its period.',
        },
        text: {
          description: 'Text of the announcement: one text, or one per language.',
          anyOf: [
            textSchema,
            object(['en', 'id'], {
              en: string(textSchema, 'In English.'),
              id: string(textSchema, 'In Indonesian.'),
            }),
          ],
        },
        from: string(timeSchema, 'When it begins, in RFC 3339: 2026-12-01T22:00+07:00.'),
        until: string(timeSchema, 'When it ends.'),
        model: string('Short name of the model that the announcement is about. Default: the whole service.'),
      }),
    },
    'Messages shown to customers for a period of time, on the status page, on their home page and in /status.json.',
  ),
  check(announcements, report, all) {
    const modelNames = all.names(models);
    for (const [index, { from, until, model }] of announcements.entries()) {
      const path = ['announcements', index];
      for (const [name, time] of [
        ['from', from],
        ['until', until],
      ] as const)
        if (Number.isNaN(Date.parse(time)))
          report([...path, name], `is "${time}", which is not a valid time`, 'correct the day or the hour');
      if (Date.parse(from) >= Date.parse(until)) report([...path, 'until'], 'is not after `from`', 'use a later time');
      if (model !== undefined && modelNames !== undefined && !modelNames.includes(model))
        report(
          [...path, 'model'],
          `names the model "${model}", which does not exist`,
          `use one of: ${modelNames.join(', ')}`,
        );
    }
  },
  notices: (announcements) =>
    announcements.flatMap((announcement, index) =>
      (['from', 'until'] as const).flatMap((name) =>
        isDay(announcement[name].slice(0, 10))
          ? []
          : [
              `announcements[${index}].${name} is not a valid date: ${announcement[name]} is read as ${new Date(announcement[name]).toISOString()}`,
            ],
      ),
    ),
});
