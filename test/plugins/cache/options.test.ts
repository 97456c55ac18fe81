import { describe, expect, it } from 'vitest';
import { authStage } from '../../../plugins/auth/stage.ts';
import { cacheStage } from '../../../plugins/cache/stage.ts';
import { mistakesIn, readYaml } from '../../core/business/accounts/yaml-fixture.ts';

describe('cache options', () => {
  const known = { stages: [authStage, cacheStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('the cache options have defaults', () => {
    expect(read('cache')).toEqual({ max_age: 86_400, max_bytes: 1_048_576 });
  });

  it('each cache option can be set alone', () => {
    expect(read('cache: { max_age: 60 }')).toEqual({ max_age: 60, max_bytes: 1_048_576 });
  });

  it.each(['max_age', 'max_bytes'])('a %s that is not an integer in range is refused', (name) => {
    for (const value of ['0', '-1', '1.5', 'long', 'null', '1e12'])
      expect(mistakes(`auth, cache: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it('unknown cache options are refused', () => {
    expect(mistakes('auth, cache: { maxage: 5 }')).toEqual([expect.stringContaining('did you mean "max_age"')]);
  });

  it('the cache needs a stage before it that identifies the caller', () => {
    expect(mistakes('cache, auth')).toEqual([expect.stringContaining('principal')]);
  });
});
