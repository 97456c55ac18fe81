import { expect, it } from 'vitest';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';

it('too many notes end with a mark, and a repeated note is not counted again', () => {
  const notes = new Notes();
  for (let index = 0; index < 24; index++) notes.drop(`p${index}`);
  notes.drop('p0');
  expect(notes.entries).toHaveLength(24);
  notes.drop('one more');
  expect(notes.entries).toHaveLength(25);
  expect(notes.entries.at(-1)).toBe('...');
});

it('truncated notes stay marked where they are included', () => {
  const [first, second] = [new Notes(), new Notes()];
  for (let index = 0; index < 25; index++) first.drop(`p${index}`);
  second.addAll(first);
  expect(second.entries).toEqual(first.entries);
});
