import { describe, expect, it } from 'vitest';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import { featureLosses } from '#core/config/catalog/abilities.ts';
import { describeDetail } from '../../../../plugins/dashboard/models/describe-detail.ts';
import { describeRow } from '../../../../plugins/dashboard/models/describe-row.ts';
import { createLabelsByVisibility } from '../../../../plugins/dashboard/route-names.ts';
import { hostOf, modelOf } from '../../format/catalog/catalog-fixture.ts';
import { now, reader, readingOf, texts, withProfile } from './models-fixture.ts';

const rowOf = (...[model, figures]: Parameters<typeof readingOf>) =>
  describeRow(readingOf(model, figures), 1, reader, now);

describe('the row of a model', () => {
  it('has its names, limits, capabilities, speed, uptime and trouble', () => {
    const model = modelOf('test', ['chat'], {
      displayName: 'Test 1',
      maxInputTokens: 200_000,
      maxOutputTokens: 65_536,
    });
    const row = rowOf(model, {
      aliases: ['dp/gpt-x', 'other'],
      health: { state: 'degraded' } as ModelHealth,
      firstTokenMs: 640,
      tokensPerSecond: 70.6,
      uptime: () => 0.9876,
      history: () => [
        { day: '2031-05-11', state: 'ok', answered: 1, incidents: [] },
        { day: '2031-05-12', state: 'bad', answered: 0.5, incidents: [] },
      ],
    });
    expect(row).toMatchObject({
      name: 'dp/test',
      path: '/dashboard/models/dp/test',
      about: 'Test 1 · also gpt-x, other',
      context: '200\u00A0K',
      output: '65\u00A0K',
      can: ['tools', 'images', 'reasoning', 'JSON'],
      firstToken: expect.stringMatching(/^0\.64\ss$/),
      speed: '71',
      uptime: '98.76%',
      uptimeKind: 'warn',
      barsLabel: '2 days: 1 with trouble, 0 without requests',
      status: { kind: 'warn', text: 'Degraded' },
      isFine: false,
      tryPath: '/dashboard/try?model=dp%2Ftest',
    });
  });

  it('shows nothing where a figure is neither measured nor configured', () => {
    expect(rowOf(modelOf('test'))).toMatchObject({
      context: '',
      output: '',
      firstToken: '',
      speed: '',
      uptime: '',
      bars: undefined,
      status: { kind: 'none', text: 'No data' },
      isFine: true,
    });
  });

  it('leaves out what the model cannot do on any route', () => {
    const blind = withProfile('test', ['chat'], { capabilities: { images: false, reasoning: false } });
    expect(rowOf(blind).can).toEqual(['tools', 'JSON']);
  });

  it('of an image model says what it is for', () => {
    expect(rowOf(modelOf('painter', ['images'], { kind: 'image' })).can).toEqual(['image generation']);
  });

  it('says that it has no backup, where readers see routes', () => {
    expect(rowOf(modelOf('test'), { aliases: ['a'], lacksBackup: true }).about).toBe('also a · no backup');
  });

  it('names two aliases, and how many more there are', () => {
    expect(rowOf(modelOf('test'), { aliases: ['a', 'b', 'c', 'd'] }).about).toBe('also a, b and 2 more');
  });
});

describe('the page of a model', () => {
  const model = modelOf('test', ['chat']);
  const detailOf = (sight: 'names' | 'numbers' | 'hidden') =>
    describeDetail(
      readingOf(model),
      createLabelsByVisibility(sight, hostOf([model]).catalog, (key, values) => `${key} ${values?.['number'] ?? ''}`),
      reader,
    );

  it('shows routes as far as customers may see them', () => {
    expect(detailOf('names').routes).toEqual(model.routes.map(({ id }) => id));
    expect(detailOf('numbers').routes).toEqual(['requests.route.number 1']);
    expect(detailOf('hidden').routes).toEqual([]);
  });

  it('says what is lost once, and in which formats', () => {
    const { losses, formats, features } = detailOf('names');
    expect(losses.find(({ text }) => text === texts['models.loss.no_reasoning_signature'])).toMatchObject({
      formats: 'Responses, Anthropic Messages, Gemini',
    });
    expect(new Set(losses.map(({ text }) => text)).size).toBe(losses.length);
    expect(formats.every(({ cells }) => cells.length === features.length)).toBe(true);
  });

  it('has a text for every loss', () => {
    expect(Object.keys(featureLosses).filter((loss) => !(`models.loss.${loss}` in texts))).toEqual([]);
  });
});
