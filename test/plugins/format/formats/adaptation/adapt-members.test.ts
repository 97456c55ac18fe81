import { describe, expect, it } from 'vitest';
import { Notes } from '../../../../../plugins/format/canonical/notes.ts';
import { omitMembers, withMember } from '../../../../../plugins/format/formats/adaptation/adapt-members.ts';

describe('a member that a route does not know', () => {
  it('is removed even if it is null', () => {
    expect(omitMembers({ top_k: null, model: 'x' }, ['top_k'])).toEqual({ model: 'x' });
    expect(withMember({ top_k: null, model: 'x' }, 'top_k', undefined)).toEqual({ model: 'x' });
  });

  it('is noted only if its loss has an effect', () => {
    const notes = new Notes();
    omitMembers({ top_k: null, top_p: 1, seed: 7 }, ['top_k', 'top_p', 'seed'], notes);
    expect(notes.entries).toEqual(['dropped seed']);
  });

  it('leaves the same body where it is missing', () => {
    const body = { model: 'x' };
    expect(omitMembers(body, ['top_k' as never])).toBe(body);
    expect(withMember(body, 'top_k' as never, undefined)).toBe(body);
  });
});
