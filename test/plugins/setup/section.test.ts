import { describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { readDefaults, listSetupModels } from '../../../plugins/setup/defaults.ts';
import { reviewSetup } from '../../../plugins/setup/index.ts';
import { setupSection } from '../../../plugins/setup/section.ts';
import { createRegistry } from '../../core/config/fixture.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from './fixture.ts';

function readYaml(text: string): Config {
  const registered = createRegistry();
  registered.section(setupSection);
  return validate(parseDocument(text, 'gateway.yaml', {}), registered);
}

const yaml = (setup: string) => `
pipeline: [auth]
upstreams: { one: { format: chat, base_url: "http://one.test" } }
models: { large: { routes: [one/a] }, large-mini: { routes: [one/b] }, "odd'$(id)": { routes: [one/c] } }
aliases: { "claude-*": large, gpt: large }
setup: ${setup}
`;
/** A line for each mistake; empty where all is right. */
function mistakesOf(setup: string): string[] {
  try {
    readYaml(yaml(setup));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}

describe('section setup', () => {
  it('the section setup may be left out', () => {
    const without = yaml('').replace('setup: \n', '');
    expect(readYaml(without).get(setupSection)).toEqual({ formats: {}, former_names: [] });
  });

  it.each(['large', 'dp/large', 'gpt', 'claude-opus-4-5'])('names models as clients do: %s', (name) => {
    expect(
      mistakesOf(`{ model: ${name}, small_model: large-mini, formats: { messages: { model: ${name} } } }`),
    ).toEqual([]);
  });

  it.each([
    ['{ model: lage }', 'setup.model: names the model "lage", which does not exist; did you mean "large"?'],
    [
      '{ formats: { chat: { small_model: dp/large-mni } } }',
      'setup.formats.chat.small_model: names the model "dp/large-mni", which does not exist; did you mean "dp/large-mini"?',
    ],
    ['{ formats: { mesages: {} } }', 'setup.formats.mesages: is not a known key; did you mean "messages"?'],
    ['{ models: large }', 'setup.models: is not a known key; did you mean "model"?'],
    [
      `{ formats: { messages: { model: "odd'$(id)" } } }`,
      `setup.formats.messages.model: names the model "odd'$(id)", whose name is not safe in the settings of tools; use a model or alias`,
    ],
    ['{ small_model: "claude-{x}" }', 'setup.small_model: names the model "claude-{x}", whose name is not safe'],
    ['{ model: "" }', 'setup.model: is empty; needs at least 1'],
  ])('refuses %s', (setup, mistake) => {
    expect(mistakesOf(setup)).toEqual([expect.stringContaining(mistake)]);
  });
});

describe('models that tools are set up with', () => {
  const models = [
    modelOf('a', ['chat']),
    modelOf('b', ['messages']),
    modelOf('a-mini', ['chat']),
    modelOf('painter', ['images']),
  ];
  const defaultsWith = (setup: object, format = 'chat') => {
    const defaults = readDefaults(format, setupHost(models, {}, setup), registry);
    return [defaults?.model.name, defaults?.small?.name];
  };

  it('the models of tools are those of gateway.yaml, and those of a format before those of all formats', () => {
    const setup = { model: 'b', small_model: 'dp/a', formats: { messages: { model: 'a', small_model: 'b' } } };
    expect(defaultsWith(setup)).toEqual(['dp/b', 'dp/a']);
    expect(defaultsWith(setup, 'messages')).toEqual(['dp/a', 'dp/b']);
  });

  it('the models of tools are chosen by the rule if gateway.yaml names none', () => {
    expect(defaultsWith({})).toEqual(['dp/a', 'dp/a-mini']);
    expect(defaultsWith({}, 'messages')).toEqual(['dp/b', 'dp/a-mini']);
    expect(defaultsWith({ formats: { messages: { model: 'a' } } })).toEqual(['dp/a', 'dp/a-mini']);
  });

  it('the models of tools keep the name of an alias, which is then among those to choose from', () => {
    expect(defaultsWith({ model: 'alias' })).toEqual(['alias', 'dp/a-mini']);
    const names = listSetupModels(setupHost(models, {}, { model: 'alias' }), registry).map(({ name }) => name);
    expect(names).toEqual(['dp/a', 'dp/b', 'dp/a-mini', 'alias']);
  });

  it('the models of tools are chosen by the rule if a configured one is unavailable or holds no conversations', () => {
    expect(defaultsWith({ model: 'gone' })).toEqual(['dp/a', 'dp/a-mini']);
    expect(defaultsWith({ model: 'painter', small_model: 'painter' })).toEqual(['dp/a', 'dp/a-mini']);
  });
});

describe('daypass check', () => {
  const models = [modelOf('a', ['chat']), modelOf('b', ['messages']), modelOf('painter', ['images'])];
  const review = (setup: object) => reviewSetup(setupHost(models, {}, setup), registry);

  it('daypass check shows the models of tools', () => {
    expect(review({ small_model: 'dp/a' })).toEqual({ value: 'dp/b, dp/a', notice: [] });
  });

  it.each([
    [{ model: 'gone' }, 'setup.model "gone" is not used: all upstreams of the model are off'],
    [{ small_model: 'painter' }, 'setup.small_model "painter" is not used: the model does not support conversations'],
  ])('says why tools do not get the model that gateway.yaml names: %o', (setup, notice) => {
    expect(review(setup).notice).toEqual([notice]);
  });
});
