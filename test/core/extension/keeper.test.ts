import { describe, expect, it } from 'vitest';
import { Keeper } from '#core/extension/keeper.ts';

const released: string[] = [];
const part = (name: string) => () => ({ name, [Symbol.dispose]: () => void released.push(name) });

describe('what a keeper keeps', () => {
  it('is created once and released newest first', async () => {
    released.length = 0;
    const keeper = new Keeper();
    expect(keeper.keep('a', part('a'))).toBe(keeper.keep('a', part('other')));
    keeper.keep('b', part('b'));
    await keeper[Symbol.asyncDispose]();
    expect(released).toEqual(['b', 'a']);
  });

  it('for a build that fails is released, unless it was there or others use it', async () => {
    released.length = 0;
    const keeper = new Keeper();
    const serving = keeper.forBuild(new AsyncDisposableStack());
    serving('old', part('old'));
    const undo = new AsyncDisposableStack();
    const building = keeper.forBuild(undo);
    for (const name of ['old', 'new', 'shared']) building(name, part(name));
    const shared = serving('shared', part('shared'));
    await undo.disposeAsync();
    expect(released).toEqual(['new']);
    expect(serving('shared', part('another'))).toBe(shared);
  });
});
