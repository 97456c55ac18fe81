import { describe, expect, it } from 'vitest';
import { featureLosses } from '#core/config/catalog/abilities.ts';
import type { Model } from '#core/config/catalog/catalog.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { ModelHealth } from '#core/business/model-health/model-health.ts';
import coreEn from '#core/web/texts/en.json' with { type: 'json' };
import { formatterFor } from '#core/web/texts/formatter.ts';
import coreId from '#core/web/texts/id.json' with { type: 'json' };
import { Translator } from '#core/web/texts/translator.ts';
import { describeDetail, describeRow } from '../../../../plugins/dashboard/models/describe-model.ts';
import { addressOf, matches, readQuery } from '../../../../plugins/dashboard/models/query.ts';
import en from '../../../../plugins/dashboard/models/texts/en.json' with { type: 'json' };
import id from '../../../../plugins/dashboard/models/texts/id.json' with { type: 'json' };
import { createRouteNames } from '../../../../plugins/dashboard/route-names.ts';
import { abilitiesOf } from '../../../../plugins/format/catalog/abilities.ts';
import type { Format } from '../../../support/formats.ts';
import { hostOf, modelOf } from '../../format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';

const t = new Translator([
  { en, id },
  { en: coreEn, id: coreId },
]).in('en');
const now = Date.UTC(2031, 4, 12, 12);
const request = { t, format: formatterFor('en', 'UTC') };
const noQuery = { search: '', open: '' };

const readingOf = (model: Model, aliases: readonly string[] = [], health?: Partial<ModelHealth>) => ({
  model,
  abilities: abilitiesOf(model),
  health: health as ModelHealth | undefined,
  aliases,
  isAlone: false,
});

const withProfile = (formats: readonly Format[], profile: ProfileSettings) =>
  modelOf('test', formats, {
    routes: [routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { profile: mergeProfiles(profile) })],
  });

describe('the row of a model', () => {
  it('says what it speaks and can, its names, context, first token and state', () => {
    const model = modelOf('test', ['chat'], { displayName: 'Test 1', maxInputTokens: 200_000 });
    const row = describeRow(
      readingOf(model, ['gpt-x'], { state: 'degraded', firstTokenMs: 640 }),
      1,
      noQuery,
      request,
      now,
    );
    expect(row).toMatchObject({
      name: 'dp/test',
      about: 'Test 1 · also gpt-x',
      speaks: 'OpenAI · Anthropic · Gemini',
      can: 'Tools, images, reasoning',
      context: '200k',
      routes: '1',
      firstToken: expect.stringMatching(/^0\.64\ss$/),
      status: { kind: 'warn', text: 'Degraded' },
      path: '/dashboard/models?open=dp%2Ftest',
      tryPath: '/dashboard/try?model=dp%2Ftest',
    });
  });

  it('leaves out what the model cannot do on any route', () => {
    const model = withProfile(['chat'], { capabilities: { images: false, reasoning: false } });
    expect(describeRow(readingOf(model), 1, noQuery, request, now).can).toBe('Tools');
  });

  it('says that it has no backup, where readers see routes', () => {
    const row = describeRow({ ...readingOf(modelOf('test'), ['gpt-x']), isAlone: true }, 1, noQuery, request, now);
    expect(row.about).toBe('also gpt-x · no backup');
  });

  it('of an image model cannot be tried', () => {
    const row = describeRow(readingOf(modelOf('painter', ['images'])), 1, noQuery, request, now);
    expect(row).toMatchObject({ speaks: 'OpenAI Images', can: 'Image generation', tryPath: '' });
  });

  it('of one whose state is not known is neither good nor bad', () => {
    const row = describeRow(readingOf(modelOf('test')), 1, noQuery, request, now);
    expect(row).toMatchObject({ firstToken: '', status: { kind: 'none', text: 'No data' } });
  });

  it('that is open leads to itself closed', () => {
    const row = describeRow(readingOf(modelOf('test')), 1, { search: 'te', open: 'dp/test' }, request, now);
    expect(row).toMatchObject({ isOpen: true, path: '/dashboard/models?search=te' });
  });
});

describe('the open row of a model', () => {
  const model = modelOf('test', ['chat']);
  const routes = (sight: 'names' | 'numbers' | 'hidden') =>
    createRouteNames(sight, hostOf([model]).catalog, (key, values) => `${key} ${values?.['number'] ?? ''}`);
  const factsOf = (sight: 'names' | 'numbers' | 'hidden') =>
    describeDetail(readingOf(model), routes(sight), request).facts.map(({ value }) => value);

  it('shows routes as far as customers may see them', () => {
    const [name = ''] = model.routes.map((route) => route.id);
    expect(factsOf('names')).toContain(name);
    expect(factsOf('numbers')).toContain('requests.route.number 1');
    expect(factsOf('numbers').join('|')).not.toContain(name);
    expect(factsOf('hidden')).toHaveLength(2);
  });

  it('says what is lost once, and in which formats', () => {
    const { losses, formats, features } = describeDetail(readingOf(model), routes('names'), request);
    expect(losses.find(({ text }) => text === en['models.loss.no_reasoning_signature'])).toMatchObject({
      formats: 'Responses, Anthropic Messages, Gemini',
    });
    expect(new Set(losses.map(({ text }) => text)).size).toBe(losses.length);
    expect(formats.every(({ cells }) => cells.length === features.length)).toBe(true);
  });

  it('has a text for every loss', () => {
    expect(Object.keys(featureLosses).filter((loss) => !(`models.loss.${loss}` in en))).toEqual([]);
  });
});

describe('the address of the page', () => {
  it('is read back as it was written', () => {
    const query = { search: 'a b&c', open: 'dp/x?y' };
    const { searchParams } = new URL(addressOf(query), 'https://x');
    expect(readQuery(Object.fromEntries(searchParams))).toEqual(query);
  });

  it.each([
    ['GPT', true],
    ['dp anthropic', true],
    ['dp mistral', false],
    ['', true],
  ])('finds by words in any case: %s', (search, isFound) => {
    expect(matches(search, ['dp/gpt-5', 'Anthropic'])).toBe(isFound);
  });
});
