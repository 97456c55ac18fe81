import { describe, expect, it } from 'vitest';
import { auth } from '../../../plugins/auth/stage.ts';
import { cacheStage } from '../../../plugins/cache/stage.ts';
import { mistakesIn, readYaml } from '../../core/accounts/yaml-fixture.ts';

describe('the options of cache', () => {
  const known = { stages: [auth, cacheStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('have a default each', () => {
    expect(read('cache')).toEqual({ max_age: 86_400, max_bytes: 1_048_576 });
  });

  it('may be given one by one', () => {
    expect(read('cache: { max_age: 60 }')).toEqual({ max_age: 60, max_bytes: 1_048_576 });
  });

  it.each(['max_age', 'max_bytes'])('refuse a %s that is no whole number within bounds', (name) => {
    for (const value of ['0', '-1', '1.5', 'long', 'null', '1e12'])
      expect(mistakes(`auth, cache: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it('refuse names that do not exist', () => {
    expect(mistakes('auth, cache: { maxage: 5 }')).toEqual([expect.stringContaining('did you mean "max_age"')]);
  });

  it('are refused before a stage that knows the caller', () => {
    expect(mistakes('cache, auth')).toEqual([expect.stringContaining('principal')]);
  });
});
