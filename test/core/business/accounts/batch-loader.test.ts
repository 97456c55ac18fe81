import { describe, expect, it } from 'vitest';
import { TooManyLookups, BatchLoader } from '#core/business/accounts/batch-loader.ts';

/** A source whose batches are answered one by one, by hand. */
function createSource() {
  const batches: { keys: readonly string[]; answer: PromiseWithResolvers<ReadonlyMap<string, number>> }[] = [];
  const loader = new BatchLoader<number>((keys) => {
    const answer = Promise.withResolvers<ReadonlyMap<string, number>>();
    batches.push({ keys, answer });
    return answer.promise;
  });
  return { loader, batches };
}

const turn = () => new Promise(setImmediate);

describe('BatchLoader', () => {
  it('reads the look-ups of one turn together, each key once', async () => {
    const { loader, batches } = createSource();
    const values = Promise.all([loader.load('a'), loader.load('b'), loader.load('a')]);
    await turn();
    batches[0]?.answer.resolve(new Map([['a', 1]]));
    await expect(values).resolves.toEqual([1, undefined, 1]);
    expect(batches.map(({ keys }) => keys)).toEqual([['a', 'b']]);
  });

  it('reads at most 200 keys with one query', async () => {
    const { loader, batches } = createSource();
    const values = Promise.all(Array.from({ length: 201 }, (_, key) => loader.load(String(key))));
    await turn();
    batches[0]?.answer.resolve(new Map());
    await turn();
    batches[1]?.answer.resolve(new Map([['200', 1]]));
    expect((await values).at(-1)).toBe(1);
    expect(batches.map(({ keys }) => keys.length)).toEqual([200, 1]);
  });

  it('has one batch in flight at a time', async () => {
    const { loader, batches } = createSource();
    const first = loader.load('a');
    await turn();
    const second = loader.load('b');
    await turn();
    expect(batches).toHaveLength(1);
    batches[0]?.answer.resolve(new Map());
    await first;
    await turn();
    batches[1]?.answer.resolve(new Map([['b', 2]]));
    await expect(second).resolves.toBe(2);
  });

  it('reads a key again for look-ups that arrive while it is read', async () => {
    const { loader, batches } = createSource();
    const before = loader.load('a');
    await turn();
    const after = loader.load('a');
    batches[0]?.answer.resolve(new Map([['a', 1]]));
    await turn();
    batches[1]?.answer.resolve(new Map([['a', 2]]));
    await expect(Promise.all([before, after])).resolves.toEqual([1, 2]);
  });

  it('rejects the batch and the look-ups that wait for the next one', async () => {
    const { loader, batches } = createSource();
    const failed = [loader.load('a'), loader.load('b')];
    await turn();
    failed.push(loader.load('c'));
    batches[0]?.answer.reject(new Error('gone'));
    const results = await Promise.allSettled(failed);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(batches).toHaveLength(1);
  });

  it('continues after a failure', async () => {
    const { loader, batches } = createSource();
    const failed = loader.load('a');
    await turn();
    batches[0]?.answer.reject(new Error('gone'));
    await expect(failed).rejects.toThrow('gone');
    const next = loader.load('a');
    await turn();
    batches[1]?.answer.resolve(new Map([['a', 1]]));
    await expect(next).resolves.toBe(1);
  });

  it('rejects look-ups over the limit', async () => {
    const { loader, batches } = createSource();
    const asked = Array.from({ length: 2_000 }, (_, index) => loader.load(`k${index}`));
    await expect(loader.load('one more')).rejects.toThrow(TooManyLookups);
    await turn();
    for (let index = 0; index < 10; index++) {
      batches[index]?.answer.resolve(new Map());
      await turn();
    }
    await expect(Promise.all(asked)).resolves.toHaveLength(2_000);
  });
});
