import { expect, it } from 'vitest';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';

it('notes that are too many end with a mark, and one that is said again is none too many', () => {
  const notes = new Notes();
  for (let index = 0; index < 24; index++) notes.drop(`p${index}`);
  notes.drop('p0');
  expect(notes.entries).toHaveLength(24);
  notes.drop('one more');
  expect(notes.entries).toHaveLength(25);
  expect(notes.entries.at(-1)).toBe('...');
});

it('notes that were cut stay so where they are included', () => {
  const [first, second] = [new Notes(), new Notes()];
  for (let index = 0; index < 25; index++) first.drop(`p${index}`);
  second.include(first);
  expect(second.entries).toEqual(first.entries);
});
