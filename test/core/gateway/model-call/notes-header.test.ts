import { describe, expect, it } from 'vitest';
import { truncationMark, maxNotes, formatNotes } from '#core/gateway/model-call/notes-header.ts';

const many = (count: number) => Array.from({ length: count }, (_, index) => `dropped ${index}`);

describe('notes header', () => {
  it('has each note once, in the order in which they came up', () => {
    expect(formatNotes(['dropped b', 'dropped a', 'dropped b'])).toBe('dropped b; dropped a');
  });

  it('has as many as may be, and no mark when that is all', () => {
    expect(formatNotes(many(maxNotes))).toBe(many(maxNotes).join('; '));
  });

  it('ends with a mark when there are more', () => {
    expect(formatNotes(many(maxNotes + 1))).toBe(`${many(maxNotes).join('; ')}; ...`);
  });

  it('ends with the mark when notes were cut before, whatever came after', () => {
    expect(formatNotes(['dropped a', truncationMark, 'dropped b'])).toBe('dropped a; dropped b; ...');
  });
});
