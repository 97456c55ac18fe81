import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordings, rowOf } from './recordings.ts';

const root = join(import.meta.dirname, '../../../fixtures/replays');

describe('the recordings', () => {
  it.each(recordings.map(rowOf))('say where the shape of %s is documented, and how it ends', (_name, { expected }) => {
    expect(expected.source).toMatch(/^https:\/\//);
    expect([expected.finish, expected.error].filter((end) => end !== undefined)).toHaveLength(1);
  });

  it('are each named by every other file of their folder', () => {
    const names = globSync('*/*.json', { cwd: root }).map((file) =>
      join(dirname(file), basename(file).replace(/(\.expected)?\.json$/, '')),
    );
    expect(new Set(names)).toEqual(new Set(recordings.map(({ name }) => name)));
  });
});
