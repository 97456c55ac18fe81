import { describe, expect, it } from 'vitest';
import { findRawElement } from '../../../../plugins/format/request/raw-element.ts';
import { findMembers } from '../../../../plugins/format/socket/member-spans.ts';

describe('an element of a truncated JSON text', () => {
  it('is not found if more of its number or literal may follow', () => {
    for (const cut of ['{"n":[12', '{"n":[tru', '{"n":[1e', '{"n":[{"a":1'])
      expect(findRawElement(Buffer.from(cut), 'n', 0)).toBeUndefined();
  });

  it('is found once its end is there', () => {
    expect(findRawElement(Buffer.from('{"n":[12,'), 'n', 0)).toBe('12');
    expect(findRawElement(Buffer.from('{"m":[3],"n":[true, {"a":[1,"]"]}'), 'n', 1)).toBe('{"a":[1,"]"]}');
  });
});

it('members with numbers and literals are found up to the end of the object', () => {
  expect(findMembers('{"a":12,"b":null}')?.map(({ name }) => name)).toEqual(['a', 'b']);
});
