import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Model } from '#core/config/catalog/catalog.ts';
import { describeActions } from '../../../../plugins/setup/script/describe-actions.ts';
import { type ScriptData, createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { scriptedTools } from '../../../../plugins/setup/tools.ts';
import { type SetupValues, findValues } from '../../../../plugins/setup/values.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';

const dataOf = (models: readonly Model[]) => createScriptData(setupHost(models), registry) as ScriptData;

/** What the script does: fills in the placeholders for a model that was chosen, or for the default. */
function filledActions({ tools: known, models, defaults }: ScriptData, id: string, chosen: string): unknown {
  const tool = known.find((one) => one.id === id)!;
  const small = defaults.find(({ format }) => format === tool.format)?.small ?? chosen;
  const [model, smallModel] = [chosen, small].map((name) => models.find((one) => one.name === name)!);
  const features = `${model!.features}${chosen === small ? '-same' : ''}`;
  const variant = tool.variants.find((one) => one.features.includes(features))!;
  const values = [
    ['@KEY@', 'dp-key'],
    ['@MODEL@', chosen],
    ['@SMALL@', small],
    ['@CONTEXT@', model!.context],
    ['@OUTPUT@', model!.output],
    ['@SMALL_CONTEXT@', smallModel!.context],
    ['@SMALL_OUTPUT@', smallModel!.output],
  ] as const;
  return JSON.parse(
    values.reduce((text, [name, value]) => text.replaceAll(name, String(value)), JSON.stringify(variant.actions)),
  );
}

const limit = fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: undefined });
const someModel = fc.record({
  name: fc.constantFrom('large', 'b-mini', 'gpt-5.1:free', 'claude-haiku-4@x', 'v+1/a', 'lite'),
  formats: fc.constantFrom(['chat'] as const, ['messages'] as const, ['responses', 'chat'] as const),
  maxInputTokens: limit,
  maxOutputTokens: limit,
});
const someCatalog = fc
  .uniqueArray(someModel, { minLength: 1, maxLength: 6, selector: ({ name }) => name })
  .map((models) => models.map(({ name, formats, ...limits }) => modelOf(name, formats, limits)));

describe('data of the script', () => {
  it('names the list of models that Claude Code keeps of this gateway, which an undo removes', () => {
    const { tools } = dataOf([modelOf('large', ['messages'])]);
    const { variants = [] } = tools.find(({ id }) => id === 'claude-code') ?? {};
    expect(variants.length).toBeGreaterThan(0);
    for (const { actions } of variants)
      expect(JSON.stringify(actions.filter(({ kind }) => kind === 'cache'))).toContain(
        '"~/.claude/cache/gateway-models.json"',
      );
  });

  it('the data of the script makes of its placeholders exactly what the page shows for the model', () => {
    fc.assert(
      fc.property(someCatalog, (models) => {
        const data = dataOf(models);
        for (const tool of scriptedTools) {
          for (const { name } of data.models) {
            const values = findValues(setupHost(models), registry, tool.formats[0], name) as SetupValues;
            const shown = describeActions(tool, { ...values, key: 'dp-key' });
            expect(filledActions(data, tool.id, name)).toEqual(shown);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('the data of the script has no limit that stands in for another', () => {
    const models = [modelOf('a', ['chat'], { maxInputTokens: 1000, maxOutputTokens: 100 }), modelOf('b-mini')];
    expect(JSON.stringify(dataOf(models))).not.toContain('7310000');
  });

  it('the data of the script has as many variants as models differ, however many models there are', () => {
    const models = Array.from({ length: 30 }, (_, index) =>
      modelOf(`m${index}`, ['chat'], { ...(index % 2 === 0 && { maxInputTokens: 1000 + index }) }),
    );
    const counts = dataOf(models).tools.map(({ variants }) => variants.length);
    expect(Math.max(...counts)).toBe(2);
  });

  it('the data of the script has WebSockets for Codex alone, and never what would change its requests', () => {
    const { tools: known } = dataOf([modelOf('a', ['responses'])]);
    const withSockets = known.filter(({ variants }) => variants.some((variant) => variant.withSockets !== undefined));
    expect(withSockets.map(({ id }) => id)).toEqual(['codex']);
    const [variant] = withSockets[0]!.variants;
    expect(JSON.stringify(variant?.withSockets)).toContain('supports_websockets = true');
    expect(JSON.stringify(variant?.actions)).not.toContain('websockets');
    expect(JSON.stringify(known)).not.toMatch(/model_catalog_url|api_key_model_discovery|remote_compaction/);
  });

  it('the data of the script defaults to a model that is reached without a translation', () => {
    const models = [modelOf('a', ['chat']), modelOf('b', ['messages']), modelOf('c-mini', ['messages'])];
    const { defaults } = dataOf(models);
    expect(defaults.find(({ format }) => format === 'messages')).toMatchObject({ model: 'dp/b', small: 'dp/c-mini' });
    expect(defaults.find(({ format }) => format === 'chat')).toMatchObject({ model: 'dp/a', small: 'dp/c-mini' });
  });

  it('the data of the script has no small model where the catalog has none', () => {
    expect(dataOf([modelOf('a')]).defaults.every((one) => !('small' in one))).toBe(true);
  });

  it('the data of the script does not exist without a model for conversations', () => {
    expect(createScriptData(setupHost([modelOf('painter', ['images'])]), registry)).toBeUndefined();
  });
});
