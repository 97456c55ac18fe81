import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { findPipelineNotices } from '#core/extension/validation/pipeline-rules.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { complete, createRegistry, mistakesIn, mistakesInWhole, read } from '../../config/fixture.ts';

const all = 'auth, plan, rate-limit, format, upstream, log';

describe('the pipeline', () => {
  it('has the stages in the order of the list, options and defaults filled in', () => {
    const { stages } = read('pipeline: [auth, rate-limit: { limit: 5 }, format, upstream, log]');
    expect(stages.map(({ definition, options }) => [definition.name, options])).toEqual([
      ['auth', {}],
      ['rate-limit', { limit: 5, period: 60, strict: false }],
      ['format', {}],
      ['upstream', {}],
      ['log', {}],
    ]);
  });

  it('is frozen, with the options of its stages', () => {
    const limits = {
      name: 'limits',
      description: 'Limits.',
      options: {
        type: 'object',
        properties: {
          days: { type: 'array', items: { type: 'object', properties: { day: { type: 'integer' } } } },
          night: { type: 'object', default: {}, properties: { limit: { type: 'integer', default: 1 } } },
        },
      },
      create: () => ({}),
    } as const;
    const registry = createRegistry();
    registry.stage(limits);
    const text = complete('pipeline: [limits: { days: [{ day: 1 }] }]');
    const { stages } = validate(parseDocument(text, 'gateway.yaml', {}), registry);
    const options = stages[0]?.options as { days: { day: number }[]; night: { limit: number } };
    expect(options).toEqual({ days: [{ day: 1 }], night: { limit: 1 } });
    expect(() => (stages as unknown[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(options, { days: [] })).toThrow(TypeError);
    expect(() => options.days.push({ day: 2 })).toThrow(TypeError);
    expect(() => Object.assign(options.days[0] ?? {}, { day: 2 })).toThrow(TypeError);
    expect(() => Object.assign(options.night, { limit: 2 })).toThrow(TypeError);
  });

  it('accepts a stage with empty options', () => {
    expect(mistakesIn('pipeline:\n  - auth:\n')).toEqual([]);
  });

  it.each([
    ['missing', 'upstreams: {}\nmodels: {}', `1:1 pipeline: is missing; list the stages in order, such as: ${all}`],
    [
      'no list',
      'upstreams: {}\nmodels: {}\npipeline: auth',
      `3:11 pipeline: is not a list of stages; list the stages in order, such as: ${all}`,
    ],
    [
      'empty',
      'upstreams: {}\nmodels: {}\npipeline: []',
      `3:11 pipeline: is not a list of stages; list the stages in order, such as: ${all}`,
    ],
  ])('is refused when it is %s', (_name, text, line) => {
    expect(mistakesInWhole(text)).toEqual([`gateway.yaml:${line}`]);
  });

  it.each([
    [
      'a misspelt stage',
      '[auht]',
      '1:12 pipeline[0]: names the stage "auht", which does not exist; did you mean "auth"?',
    ],
    [
      'a stage that is like no other',
      '[moderation]',
      `1:12 pipeline[0]: names the stage "moderation", which does not exist; use one of: ${all}`,
    ],
    [
      'a misspelt stage with options',
      '[auth, rate-limits: { limit: 5 }]',
      '1:18 pipeline[1]: names the stage "rate-limits", which does not exist; did you mean "rate-limit"?',
    ],
    ['a stage twice', '[auth, auth]', '1:18 pipeline[1]: lists the stage auth twice; keep one of them'],
    [
      'a stage before the one that writes its fact',
      '[plan, auth]',
      '1:12 pipeline[0]: plan needs the fact principal, which no stage before it writes; put auth before plan',
    ],
    [
      'a stage without the one that writes its fact',
      '[auth, upstream]',
      '1:18 pipeline[1]: upstream needs the fact adapter, which no stage before it writes; put format before upstream',
    ],
    [
      'a stage before one that it has to follow',
      '[log, auth]',
      '1:12 pipeline[0]: log comes before auth; put auth before log',
    ],
    [
      'a misspelt option',
      '[auth, rate-limit: { limt: 5 }]',
      '1:32 pipeline[1].rate-limit.limt: is not a known key; did you mean "limit"?',
    ],
    [
      'an option that is too small',
      '[auth, rate-limit: { limit: 0 }]',
      '1:39 pipeline[1].rate-limit.limit: is 0; must be at least 1',
    ],
    [
      'an option that is too large',
      '[auth, rate-limit: { limit: 1001 }]',
      '1:39 pipeline[1].rate-limit.limit: is 1001; must be at most 1000',
    ],
    [
      'a fraction for a whole number',
      '[auth, rate-limit: { limit: 1.5 }]',
      '1:39 pipeline[1].rate-limit.limit: is 1.5; must be an integer',
    ],
    [
      'a text for a number',
      '[auth, rate-limit: { limit: none }]',
      '1:39 pipeline[1].rate-limit.limit: is "none"; must be an integer',
    ],
    [
      'a text for true or false',
      '[auth, rate-limit: { strict: yes }]',
      '1:40 pipeline[1].rate-limit.strict: is "yes"; must be true or false: write true, without quotes',
    ],
    [
      'an option without a value',
      '[auth, rate-limit: { limit: }]',
      '1:39 pipeline[1].rate-limit.limit: is empty; must be an integer',
    ],
    [
      'a number for options',
      '[auth, rate-limit: 5]',
      '1:30 pipeline[1].rate-limit: is 5; must be a map, such as { limit: … }',
    ],
    [
      'options that a stage does not have',
      '[auth: { x: 1 }]',
      '1:20 pipeline[0].auth.x: is not a known key; there are none',
    ],
  ])('is refused with %s', (_name, list, line) => {
    expect(mistakesIn(`pipeline: ${list}`)).toEqual([`gateway.yaml:${line}`]);
  });

  it.each([
    ['a number', '5'],
    ['nothing', ''],
    ['an empty map', '{}'],
    ['two stages in one entry', '{ format: {}, log: {} }'],
    ['a list', '[auth]'],
  ])('is refused with %s for a stage', (_name, entry) => {
    expect(mistakesIn(`pipeline:\n  - auth\n  - ${entry}`)).toEqual([
      expect.stringMatching(
        /^gateway\.yaml:3:\d pipeline\[1\]: is not a stage; write its name, or one name with options: "rate-limit: \{ limit: 60 \}"$/,
      ),
    ]);
  });

  it('does not lack a fact whose stage is only misspelled', () => {
    expect(mistakesIn('pipeline: [auht, plan]')).toHaveLength(1);
  });
});

describe('the notices about a valid pipeline', () => {
  const open = 'anyone can call without a key: the pipeline has no stage that authenticates callers, such as auth';
  const unpaid =
    'every valid key is served, with or without a paid period: the pipeline has no stage that checks it, such as plan';
  const mute = 'model calls are refused: the pipeline has no stage that sends them to an upstream, such as upstream';

  it.each([
    ['nothing when keys are asked for and upstreams are asked', '[auth, plan, format, upstream, log]', []],
    ['that nobody is asked for a key', '[format, upstream, log]', [open]],
    ['that model calls are not answered', '[auth, plan, rate-limit, format, log]', [mute]],
    ['that no period is asked for', '[auth, rate-limit, format, upstream, log]', [unpaid]],
    ['that they are not answered when only keys are looked at', '[auth]', [unpaid, mute]],
    ['both', '[log]', [open, mute]],
  ])('are %s', (_name, list, notices) => {
    const config = read(`pipeline: ${list}`);
    expect(findPipelineNotices(config.stages, createRegistry(), config)).toEqual(notices);
  });
});
