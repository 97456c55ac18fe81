import { describe, expect, it } from 'vitest';
import { listSectionNotices, type Section } from '#core/config/section.ts';
import { telemetrySection } from '#core/config/sections/telemetry-section.ts';

/** The warnings of a section about a value. */
const noticesOf = (section: Section, value: unknown) => listSectionNotices([section], { get: () => value as never });

describe('a valid value that is probably not meant is noted', () => {
  it.each([
    ['an endpoint for one signal', telemetrySection, { endpoint: 'http://c:4318/v1/traces' }, /write http:\/\/c:4318$/],
    ['a port for gRPC', telemetrySection, { endpoint: 'http://c:4317' }, /port 4317.*4318$/],
  ])('%s', (_title, section, value, notice) => {
    expect(noticesOf(section as Section, value)).toEqual([expect.stringMatching(notice)]);
  });

  it.each([
    [telemetrySection, { endpoint: 'http://c:4318' }],
    [telemetrySection, { endpoint: '' }],
  ])('but not what is right: %#', (section, value) => {
    expect(noticesOf(section as Section, value)).toEqual([]);
  });
});
