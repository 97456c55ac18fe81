import { describe, expect, it } from 'vitest';
import { supportsUpgradeFilter, decodesBrotliSafely, isFixed, listNodeNotices } from '#core/platform/node-release.ts';

describe('a release of Node.js', () => {
  it.each([
    ['22.23.4', false],
    ['24.0.0', false],
    ['24.21.9', false],
    ['24.22.0', false],
    ['24.22.1', true],
    ['24.23.0', true],
    ['25.9.0', false],
    ['26.10.0', false],
    ['26.12.0', false],
    ['26.12.1', true],
    ['26.12.10', true],
    ['26.13.0', true],
    ['27.0.0', true],
    ['27.0.0-nightly20261101', true],
    ['nonsense', false],
  ])('%s decodes Brotli safely: %s', (version, isSafe) => {
    const notices = listNodeNotices(version).filter((notice) => notice.includes('Brotli'));
    expect([decodesBrotliSafely(version), notices.length]).toEqual([isSafe, isSafe ? 0 : 1]);
  });

  it.each([
    ['22.23.4', false],
    ['24.8.0', false],
    ['24.9.0', true],
    ['26.12.1', true],
  ])('%s serves WebSockets: %s', (version, serves) => {
    const notices = listNodeNotices(version).filter((notice) => notice.includes('WebSockets'));
    expect([supportsUpgradeFilter(version), notices.length]).toEqual([serves, serves ? 0 : 1]);
  });

  it('without the fixes has a notice that says what is off, and what to install', () => {
    expect(listNodeNotices('26.10.0')).toEqual([
      'Node.js 26.10.0 lacks the security fixes of October 2026 for Brotli, TLS and DNS: Brotli-encoded bodies are rejected and never decoded; install 24.22.1, 26.12.1 or newer',
    ]);
  });
});

it.each([
  ['18.4.0-beta.17', false],
  ['18.7.0-beta.17', true],
  ['17.12', true],
  ['13.23', false],
])('a version of PostgreSQL is compared with the fixed one of its line: %s', (version, has) => {
  expect(isFixed(version, ['17.12', '18.7'])).toBe(has);
});
