import { describe, expect, it } from 'vitest';
import { auth } from '../../../plugins/auth/stage.ts';
import { cacheStage } from '../../../plugins/cache/stage.ts';
import { mistakesIn, readYaml } from '../../core/business/accounts/yaml-fixture.ts';

describe('cache options', () => {
  const known = { stages: [auth, cacheStage] };
  const read = (text: string) => readYaml(`pipeline: [auth, ${text}]`, known).stages[1]?.options;
  const mistakes = (text: string) => mistakesIn(`pipeline: [${text}]`, known);

  it('have defaults', () => {
    expect(read('cache')).toEqual({ max_age: 86_400, max_bytes: 1_048_576 });
  });

  it('can be set one by one', () => {
    expect(read('cache: { max_age: 60 }')).toEqual({ max_age: 60, max_bytes: 1_048_576 });
  });

  it.each(['max_age', 'max_bytes'])('refuse a %s that is not an integer in range', (name) => {
    for (const value of ['0', '-1', '1.5', 'long', 'null', '1e12'])
      expect(mistakes(`auth, cache: { ${name}: ${value} }`)).toEqual([expect.stringContaining(name)]);
  });

  it('refuse unknown names', () => {
    expect(mistakes('auth, cache: { maxage: 5 }')).toEqual([expect.stringContaining('did you mean "max_age"')]);
  });

  it('need a stage that identifies the caller before them', () => {
    expect(mistakes('cache, auth')).toEqual([expect.stringContaining('principal')]);
  });
});
