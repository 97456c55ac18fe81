import { describe, expect, it } from 'vitest';
import { findBestSupport, type ModelFeature, readAbilities } from '#core/config/catalog/abilities.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import { describeCapabilities } from '../../../../plugins/format/catalog/model-capabilities.ts';
import type { Format } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { modelOf } from './catalog-fixture.ts';

const routeOf = (formats: readonly Format[], priority: number, profile: ProfileSettings = {}) =>
  routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { priority, profile: mergeProfiles(profile) });

const abilities = (...routes: ReturnType<typeof routeOf>[]) =>
  describeCapabilities(
    modelOf(
      'test',
      routes.flatMap(({ upstream }) => upstream.formats as Format[]),
      { routes },
    ),
  );
const blind = { capabilities: { images: false } };

describe('the abilities of a model', () => {
  it('abilities list every client format that a text route serves, translated or not', () => {
    const { conversations, others } = abilities(routeOf(['chat'], 0));
    expect(conversations.map(({ format }) => format)).toEqual(['responses', 'messages', 'chat', 'gemini']);
    expect(others).toEqual([]);
  });

  it('an image model has no abilities for conversations', () => {
    expect(abilities(routeOf(['images'], 0))).toMatchObject({ conversations: [], others: ['images'] });
  });

  it('the vendors whose tools can call a model are listed once', () => {
    expect(abilities(routeOf(['chat'], 0)).vendors).toEqual(['OpenAI', 'Anthropic', 'Gemini']);
    expect(abilities(routeOf(['images'], 0)).vendors).toEqual(['OpenAI Images']);
  });

  it('each loss of a format is listed once, by name', () => {
    const { conversations } = abilities(routeOf(['chat'], 0), routeOf(['chat'], 0));
    const messages = conversations.find(({ format }) => format === 'messages');
    expect(messages?.features.reasoning).toBe('partly');
    expect(messages?.losses.filter((loss) => loss === 'no_reasoning_signature')).toHaveLength(1);
  });

  it('those of models with the same routes are read once, however many there are', () => {
    const [route, backup, other] = [routeOf(['chat'], 0), routeOf(['messages'], 1, blind), routeOf(['chat'], 1, blind)];
    const { conversations } = abilities(route, backup);
    expect(abilities(route, backup).conversations).toBe(conversations);
    expect(abilities(route, other).conversations).not.toBe(conversations);
    expect(abilities(route, { ...backup, priority: 0 }).conversations).not.toBe(conversations);
  });

  it.each([
    ['no', [routeOf(['chat'], 0, blind)]],
    ['no', [routeOf(['chat'], 0, blind), routeOf(['messages'], 1, blind)]],
    ['partly', [routeOf(['chat'], 0, blind), routeOf(['chat'], 1)]],
    ['partly', [routeOf(['chat'], 0, blind), routeOf(['chat'], 0)]],
    ['yes', [routeOf(['chat'], 0), routeOf(['chat'], 1, blind)]],
  ] as const)('follow the routes that are asked first: %s', (support, routes) => {
    const { conversations } = abilities(...routes);
    expect(conversations.find(({ format }) => format === 'chat')?.features.images).toBe(support);
  });

  it.each([
    [{ sampling: true, efforts: ['low', 'high'] }, [{ efforts: ['low', 'high'] }, {}]],
    [
      { sampling: false, efforts: ['high'] },
      [{ efforts: ['low', 'high'], sampling: false }, { efforts: ['high', 'max'] }],
    ],
    [{ sampling: true, efforts: [] }, [{ reasoning: 'none' }, {}]],
  ] as const)('requests may set what all routes take that are asked first: %j', (settings, quirks) => {
    expect(abilities(...quirks.map((one) => routeOf(['chat'], 0, { quirks: { ...one } as never }))).settings).toEqual({
      ...settings,
      safeguards: false,
    });
  });

  it.each([
    [[{ betas: true }], true],
    [[{ safeguards: true }], true],
    [[{}], false],
    [[{ betas: true, refuses: ['safeguards'] }], false],
    [[{ betas: true }, {}], false],
  ])('the vendors of %j review tool calls: %j', (quirks, safeguards) => {
    const all = quirks.map((one) => routeOf(['messages'], 0, { quirks: one }));
    expect(abilities(...all).settings.safeguards).toBe(safeguards);
  });

  it('reviews of tool calls are lost where Messages is translated, and a backup does not count', () => {
    const safeguards = { quirks: { safeguards: true } };
    expect(abilities(routeOf(['chat'], 0, safeguards)).settings.safeguards).toBe(false);
    expect(abilities(routeOf(['messages'], 0, safeguards), routeOf(['chat'], 1)).settings.safeguards).toBe(true);
  });

  it('a model can do what its best format supports', () => {
    const noReasoning = abilities(routeOf(['chat'], 0, { quirks: { reasoning: 'none' } }));
    expect(['tools', 'reasoning'].map((feature) => findBestSupport(noReasoning, feature as ModelFeature))).toEqual([
      'yes',
      'partly',
    ]);
    expect(findBestSupport(abilities(routeOf(['chat'], 0, blind)), 'images')).toBe('no');
  });

  it('abilities are computed once per model, and are empty without a plugin that provides them', () => {
    const model = modelOf('test', ['chat']);
    let reads = 0;
    const registry = { abilityReader: () => (reads++, describeCapabilities(model)) };
    const read = readAbilities(registry, model);
    expect(readAbilities(registry, model)).toBe(read);
    expect(reads).toBe(1);
    expect(readAbilities({}, modelOf('other', ['chat'])).conversations).toEqual([]);
  });
});
