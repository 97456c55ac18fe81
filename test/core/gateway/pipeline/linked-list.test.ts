import { describe, expect, it } from 'vitest';
import { LinkedList } from '#core/gateway/pipeline/linked-list.ts';

function listOf(...items: string[]): { list: LinkedList<string>; links: ReturnType<LinkedList<string>['add']>[] } {
  const list = new LinkedList<string>();
  return { list, links: items.map((item) => list.add(item)) };
}

describe('a linked list', () => {
  it('keeps items in the order in which they came', () => {
    const { list } = listOf('a', 'b', 'c');
    expect(list.items()).toEqual(['a', 'b', 'c']);
  });

  it.each([
    [0, ['b', 'c']],
    [1, ['a', 'c']],
    [2, ['a', 'b']],
  ])('loses the item at %i and no other', (index, left) => {
    const { list, links } = listOf('a', 'b', 'c');
    list.remove(links[index]!);
    expect({ items: list.items(), size: list.size, first: list.first }).toEqual({
      items: left,
      size: 2,
      first: left[0],
    });
  });

  it('takes items after the last one has left', () => {
    const { list, links } = listOf('a');
    list.remove(links[0]!);
    list.add('b');
    expect(list.items()).toEqual(['b']);
  });

  it('removes an item once, even if it is removed again', () => {
    const { list, links } = listOf('a', 'b');
    list.remove(links[0]!);
    list.remove(links[0]!);
    expect(list.size).toBe(1);
  });

  it('has no first item when it is empty', () => {
    expect(new LinkedList<string>().first).toBeUndefined();
  });
});
