import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { listSectionNotices } from '#core/config/section.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { PageRequest } from '#core/web/pages/page.ts';
import { getFormatter } from '#core/web/texts/formatter.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { Translator } from '#core/web/texts/translator.ts';
import type { AnnouncementAudience } from '../../../plugins/announcements/announcements.ts';
import { listCurrentAnnouncements, describeAnnouncements } from '../../../plugins/announcements/notices.ts';
import { announcementsSection } from '../../../plugins/announcements/section.ts';
import en from '../../../plugins/announcements/texts/en.json' with { type: 'json' };
import id from '../../../plugins/announcements/texts/id.json' with { type: 'json' };
import { complete, createRegistry } from '../../core/config/fixture.ts';

function read(text: string): Config {
  return validate(parseDocument(complete(text), 'gateway.yaml', {}), createRegistry([announcementsSection]));
}

const translator = new Translator([defineTexts({ en, id })]);
const at = (time: string) => Date.parse(`2031-05-${time}+07:00`);

const yaml = `
announcements:
  - kind: maintenance
    text: { en: The database moves., id: Database dipindahkan. }
    from: 2031-05-12T22:00+07:00
    until: 2031-05-12T23:30+07:00
  - text: { en: Slower than usual., id: Lebih lambat dari biasanya. }
    from: 2031-05-12T08:00+07:00
    until: 2031-05-13T08:00+07:00
    model: test
`;

/** As they are in the database. @param rows undefined while it does not respond */
function hostWith(config: ReturnType<typeof read>, rows?: readonly object[]) {
  return {
    section: (section: never) => config.get(section),
    catalog: { resolve: (name: string) => ({ publicName: `dp/${name}` }) },
    monotonic: () => 0,
    database: { query: () => (rows === undefined ? Promise.reject(new Error('away')) : Promise.resolve(rows)) },
  } as unknown as Host;
}

function shown(
  now: number,
  language: 'en' | 'id' = 'en',
  rows?: readonly object[],
  readers: AnnouncementAudience = 'all',
) {
  const host = hostWith(read(yaml), rows);
  const request = { host, t: translator.in(language), format: getFormatter(language, 'Asia/Jakarta'), language };
  return describeAnnouncements(request as unknown as PageRequest, now, readers);
}

function mistakes(entry: string): string {
  try {
    read(`announcements: [{ ${entry} }]`);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The warnings about an announcement that begins at a time. */
function noticesOf(from: string): string[] {
  const value = [{ from, until: '2026-12-02T08:00:00Z' }];
  return listSectionNotices([announcementsSection], { get: () => value as never });
}

describe('announcements', () => {
  it('of maintenance are shown a week ahead with their span, and as running within it', async () => {
    expect(await shown(at('05T21:59'))).toEqual([]);
    expect(await shown(at('05T22:00'))).toEqual([
      { kind: 'info', title: 'Planned maintenance: Mon 12 May, 22:00 to 23:30', text: 'The database moves.' },
    ]);
    expect((await shown(at('12T22:00'))).at(-1)).toMatchObject({
      kind: 'warn',
      title: 'Maintenance: Mon 12 May, 22:00 to 23:30',
    });
  });

  it('that are notes are shown during their span, with the model that they are about', async () => {
    expect(await shown(at('13T07:59'), 'id')).toEqual([
      { kind: 'info', title: 'dp/test: Lebih lambat dari biasanya.' },
    ]);
    expect(await shown(at('13T08:00'))).toEqual([]);
  });

  it('are empty if neither gateway.yaml nor the database has any', async () => {
    expect(await listCurrentAnnouncements(hostWith(read(''), []), 0, 'customers')).toEqual([]);
  });

  it('of the database stand among those of gateway.yaml, some for customers alone', async () => {
    const row = { kind: 'note', audience: 'customers', model: null, text_en: 'For you.', text_id: 'Untuk kamu.' };
    const rows = [{ ...row, starts_at: at('12T07:00'), ends_at: at('12T09:00'), ended_at: null }];
    const texts = async (readers: AnnouncementAudience) =>
      (await shown(at('12T08:30'), 'en', rows, readers)).map(({ title }) => title);
    expect(await texts('customers')).toEqual([
      'For you.',
      'dp/test: Slower than usual.',
      'Planned maintenance: Mon 12 May, 22:00 to 23:30',
    ]);
    expect(await texts('all')).toHaveLength(2);
  });

  it('are refused without both languages, with a span that ends before it begins, or of an unknown model', () => {
    const text = 'text: { en: x, id: y }';
    const span = 'from: 2031-05-12T22:00Z, until: 2031-05-12T23:00Z';
    expect(mistakes(`${text}, ${span}, model: test`)).toBe('');
    expect(mistakes(`text: { en: x }, ${span}`)).toMatch(/text\.id: is missing/);
    expect(mistakes(`${text}, from: 2031-05-12T22:00Z, until: 2031-05-12T22:00Z`)).toMatch(/until: is not after/);
    expect(mistakes(`${text}, ${span}, model: tset`)).toMatch(/model "tset", which does not exist/);
    expect(mistakes(`${text}, from: 2031-13-12T22:00Z, until: 2032-05-12T22:00Z`)).toMatch(/not a valid time/);
    expect(mistakes(`${text}, from: tomorrow, until: 2032-05-12T22:00Z`)).toMatch(/from/);
  });

  it('on a day that no month has are noted', () => {
    expect(noticesOf('2026-11-31T08:00:00Z')).toEqual([
      expect.stringMatching(/^announcements\[0\]\.from is not a valid date: .* is read as 2026-12-01T08:00:00\.000Z$/),
    ]);
    expect(noticesOf('2026-11-30T23:00+07:00')).toEqual([]);
  });
});
