import { describe, expect, it } from 'vitest';
import { sectionNotices, type Section } from '#core/config/section.ts';
import { announcementsSection } from '#core/config/sections/announcements-section.ts';
import { telemetrySection } from '#core/config/sections/telemetry-section.ts';

/** The warnings of a section about a value. */
const noticesOf = (section: Section, value: unknown) => sectionNotices([section], { get: () => value as never });

describe('a valid value that is probably not meant is noted', () => {
  it.each([
    ['an endpoint for one signal', telemetrySection, { endpoint: 'http://c:4318/v1/traces' }, /write http:\/\/c:4318$/],
    ['a port for gRPC', telemetrySection, { endpoint: 'http://c:4317' }, /port 4317.*4318$/],
    [
      '31 November',
      announcementsSection,
      [{ from: '2026-11-31T08:00:00Z', until: '2026-12-02T08:00:00Z' }],
      /^announcements\[0\]\.from is no day of the calendar: .* is read as 2026-12-01T08:00:00\.000Z$/,
    ],
  ])('%s', (_title, section, value, notice) => {
    expect(noticesOf(section as Section, value)).toEqual([expect.stringMatching(notice)]);
  });

  it.each([
    [telemetrySection, { endpoint: 'http://c:4318' }],
    [telemetrySection, { endpoint: '' }],
    [announcementsSection, [{ from: '2026-11-30T23:00+07:00', until: '2026-12-02T08:00:00Z' }]],
  ])('but not what is right: %#', (section, value) => {
    expect(noticesOf(section as Section, value)).toEqual([]);
  });
});
