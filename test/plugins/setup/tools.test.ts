import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { Host } from '#core/gateway/host/host.ts';
import { formats } from '../../../plugins/format/formats/formats.ts';
import { describeTool } from '../../../plugins/setup/describe-tool.ts';
import type { Reader } from '../../../plugins/setup/reader.ts';
import { fillTemplate } from '../../../plugins/setup/template.ts';
import type { FileStep, Step, SetupTool } from '../../../plugins/setup/tool.ts';
import { createNoteKey, collectTexts, tools } from '../../../plugins/setup/tools.ts';
import { type SetupValues, findValues } from '../../../plugins/setup/values.ts';
import { renderSettings } from '../../../plugins/setup/writers.ts';
import { modelOf } from '../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from './fixture.ts';

function valuesOf(models: readonly string[], service: Partial<Host['service']> = {}, chosen?: string) {
  const host = setupHost(
    models.map((id) => modelOf(id, ['chat'])),
    service,
  );
  return findValues(host, registry, 'chat', chosen);
}

const values = valuesOf(['large', 'large-mini']) as SetupValues;

describe('values of all tools', () => {
  it('the values of tools are the addresses, the first model and a small one', () => {
    expect(values).toMatchObject({
      baseUrl: 'https://ai.example',
      apiUrl: 'https://ai.example/v1',
      providerId: 'daypass',
      keyVariable: 'DAYPASS_API_KEY',
      model: { name: 'dp/large' },
      smallModel: { name: 'dp/large-mini' },
    });
  });

  it('the values of tools have the model that was chosen, and the first one instead of an unknown', () => {
    expect(valuesOf(['a', 'b'], {}, 'dp/b')?.model.name).toBe('dp/b');
    expect(valuesOf(['a', 'b'], {}, 'dp/c')?.model.name).toBe('dp/a');
  });

  it('the values of tools have one and the same model twice where none is small', () => {
    const only = valuesOf(['a']);
    expect(only?.smallModel).toBe(only?.model);
  });

  it('the values of tools do not exist without a model for conversations', () => {
    const host = setupHost([modelOf('painter', ['images'])]);
    expect(findValues(host, registry, 'chat')).toBeUndefined();
  });

  it('the values of tools keep out models whose names a settings file could read as something else', () => {
    expect(valuesOf(['a$(id)', '{env:HOME}', `b'c`, 'plain'])?.model.name).toBe('dp/plain');
  });

  it('the values of tools keep a path and a port, and encode what is not plain', () => {
    const { baseUrl } = valuesOf(['a'], { baseUrl: `https://ai.example:8443/ga te/$(id)/it's/{x}/` }) as SetupValues;
    expect(baseUrl).toBe('https://ai.example:8443/ga%20te/%24%28id%29/it%27s/%7Bx%7D');
  });

  it('the values of tools have a name without quotes and substitutions, and a variable that begins with no digit', () => {
    const named = valuesOf(['a'], { name: `4 "Friends" {env:HOME}`, slug: '4-friends' });
    expect(named).toMatchObject({ providerName: '4 Friends env HOME', keyVariable: '_4_FRIENDS_API_KEY' });
  });
});

const reader: Reader = { t: (key) => key, system: 'linux', baseUrl: values.baseUrl, chosenModel: undefined };
const stepsOf = (id: string, ofValues = values) => fillTemplate(tools.find((tool) => tool.id === id)!.steps, ofValues);
const filesOf = ({ id }: SetupTool) => stepsOf(id).filter((step): step is FileStep & Step => step.kind === 'file');

describe('table of tools', () => {
  it('the table of tools names each tool once', () => {
    expect(new Set(tools.map(({ id }) => id)).size).toBe(tools.length);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  });

  it('the table of tools names formats that clients can speak', () => {
    const spoken = new Set(formats.filter(({ client }) => client !== undefined).map(({ name }) => name));
    expect(tools.flatMap((tool) => tool.formats).filter((format) => !spoken.has(format))).toEqual([]);
  });

  it('the table of tools has a text for each note', () => {
    const notes = tools.flatMap((tool) => [
      tool.note && createNoteKey(tool),
      tool.nameText,
      ...stepsOf(tool.id).map(({ note }) => note),
    ]);
    const known = new Set(tools.flatMap((tool) => Object.keys(collectTexts(tool).en)));
    expect(notes.filter((note) => note !== undefined && !known.has(note))).toEqual([]);
  });

  it('the table of tools writes each key once as a placeholder or variable, and into no URL', () => {
    const written = tools.map(({ id }) => ({ id, text: JSON.stringify(stepsOf(id)) }));
    expect(written.filter(({ text }) => !/YOUR_KEY|_API_KEY|AUTH_TOKEN|"keys","set"/.test(text))).toEqual([]);
    expect(written.filter(({ text }) => /https?:[^"\s]*(YOUR_KEY|API_KEY)/.test(text))).toEqual([]);
  });

  it.each(tools.filter((tool) => filesOf(tool).length > 0))('writes files that $name can read', (tool) => {
    for (const { format, settings } of filesOf(tool)) {
      const text = renderSettings(format, settings);
      const readers = { json: JSON.parse, toml: parseToml, yaml: parseYaml };
      const read = readers[format] as (text: string) => unknown;
      expect(read(text)).toEqual(settings);
    }
  });

  it.each(tools)('leads $name to this gateway and its model', (tool) => {
    const { steps } = describeTool(tool, values, reader);
    const boxes = steps.flatMap((step) => step.boxes.map(({ pieces }) => pieces.map(({ text }) => text).join('')));
    const text = JSON.stringify([boxes, steps.map(({ fields }) => fields)]);
    expect(text).toContain('https://ai.example');
    if (tool.id !== 'environment') expect(text).toContain('dp/large');
  });

  it.each([
    ['claude-code', 'ANTHROPIC_BASE_URL', 'https://ai.example'],
    ['codex', 'base_url', 'https://ai.example/v1'],
    ['opencode', 'baseURL', 'https://ai.example/v1'],
    ['pi', 'baseUrl', 'https://ai.example/v1'],
    ['junie', 'baseUrl', 'https://ai.example/v1/responses'],
    ['gemini-cli', 'GOOGLE_GEMINI_BASE_URL', 'https://ai.example'],
    ['goose', 'base_url', 'https://ai.example/v1/chat/completions'],
    ['kimi-code', 'base_url', 'https://ai.example/v1'],
    ['mistral-vibe', 'api_base', 'https://ai.example/v1'],
    ['openclaw', 'baseUrl', 'https://ai.example/v1'],
    ['vscode', 'url', 'https://ai.example/v1/chat/completions'],
  ])('gives %s the address in the form that it wants', (id, name, url) => {
    expect(JSON.stringify(stepsOf(id))).toContain(`"${name}":"${url}"`);
  });

  it('the table of tools leaves limits out where the catalog has none, and writes them where it has', () => {
    const limited: SetupValues = {
      ...values,
      model: { ...values.model, maxInputTokens: 200_000, maxOutputTokens: 8_000 },
    };
    expect(JSON.stringify(stepsOf('codex'))).not.toContain('model_context_window');
    expect(JSON.stringify(stepsOf('codex', limited))).toContain('"model_context_window":200000');
  });
});

describe('Zed', () => {
  it.each([
    ['daypass', 'daypass', 'DAYPASS_API_KEY'],
    ['ai24-x', 'ai24-x', 'AI_24_X_API_KEY'],
    ['1ai', 'gateway-1ai', 'GATEWAY_1_AI_API_KEY'],
  ])('finds the key of the provider %s in the variable that it makes of its name', (slug, provider, key) => {
    const steps = stepsOf('zed', valuesOf(['a'], { slug }) as SetupValues);
    expect(steps).toMatchObject([
      {
        settings: {
          language_models: { openai_compatible: { [provider]: {} } },
          agent: { default_model: { provider } },
        },
      },
      { key },
      {},
    ]);
  });
});
