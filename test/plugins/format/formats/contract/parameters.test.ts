import { describe, expect, it } from 'vitest';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { checkParameters, type ParameterRules } from '../../../../../plugins/format/formats/contract/parameters.ts';
import { descriptors, type Format } from '../../../../support/formats.ts';

const chatParameters = descriptors.chat.client.parameters;
const requiredOn = (format: Format, endpoint: string) =>
  descriptors[format].client.endpoints.find(({ name }) => name === endpoint)?.required;

/** What is said about a body; undefined when it is let through. */
function complaint(body: JsonObject, of: ParameterRules, required: readonly string[] = []): GatewayError | undefined {
  try {
    checkParameters(body, of, required);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const right: [Format, string, JsonValue[]][] = [
  ['chat', 'messages', [[{ role: 'user' }]]],
  ['chat', 'n', [1, 128]],
  ['chat', 'max_tokens', [1, 1_000_000_000]],
  ['chat', 'temperature', [0, 0.5, 2]],
  ['chat', 'top_p', [0, 1]],
  ['chat', 'tools', [[], [{}]]],
  ['chat', 'response_format', [{}, { type: 'text' }, { type: 'structural_tag' }]],
  ['chat', 'reasoning_effort', ['high', 'of tomorrow']],
  ['messages', 'thinking', [{ type: 'adaptive' }]],
  ['gemini', 'tools', [[], [{}], { function_declarations: [] }]],
  ['chat', 'stream', [true, false]],
  ['chat', 'stop', ['x', ['x', 'y'], []]],
  ['chat', 'tool_choice', ['auto', {}]],
  ['chat', 'presence_penalty', [-2, 2]],
  ['chat', 'deferred', [false]],
  ['responses', 'input', ['hi', '', [], [{}]]],
  ['responses', 'temperature', [0, 2]],
  ['responses', 'reasoning', [{}]],
  ['messages', 'temperature', [0, 1]],
  ['messages', 'system', ['hi', [{}]]],
  ['messages', 'top_k', [0, 40]],
  ['messages', 'stop_sequences', [[], ['x']]],
  ['images', 'prompt', ['a cat', '']],
  ['images', 'n', [1, 10]],
];
const wrong: [Format, string, JsonValue[]][] = [
  ['chat', 'messages', ['hi', [], {}, 5]],
  ['chat', 'n', [0, 129, 1.5, '1', true]],
  ['chat', 'max_tokens', [0, -1, 1.5, 1e300, '10']],
  ['chat', 'temperature', [-0.1, 2.1, '1', []]],
  ['chat', 'top_p', [-1, 1.01]],
  ['chat', 'tools', [{}, 'x']],
  ['chat', 'response_format', [[], 'json']],
  ['chat', 'stream', ['true', 1, 0]],
  ['chat', 'stream_options', [true, []]],
  ['chat', 'stop', [5, {}, true]],
  ['chat', 'tool_choice', [5, []]],
  ['chat', 'presence_penalty', [-3, '0']],
  ['chat', 'parallel_tool_calls', ['yes', 1]],
  ['chat', 'metadata', ['a', []]],
  ['chat', 'deferred', [true]],
  ['chat', 'user', [5]],
  ['chat', 'seed', ['x', 0.5]],
  ['chat', 'logit_bias', [5, []]],
  ['chat', 'top_logprobs', ['x']],
  ['chat', 'reasoning_effort', [5]],
  ['responses', 'input', [5, {}, true]],
  ['responses', 'store', ['no', 0]],
  ['responses', 'include', ['reasoning.encrypted_content', {}]],
  ['responses', 'previous_response_id', [5]],
  ['messages', 'temperature', [1.1]],
  ['messages', 'system', [5, {}]],
  ['messages', 'top_k', [-1, 0.5]],
  ['messages', 'thinking', [true, []]],
  ['messages', 'tool_choice', ['auto', 5]],
  ['messages', 'output_config', ['high']],
  ['images', 'prompt', [5, []]],
  ['images', 'n', [0, 11]],
];

describe('a parameter', () => {
  it.each(right)('a parameter that is right passes: %s, %s', (format, name, values) => {
    expect(values.map((value) => complaint({ [name]: value }, descriptors[format].client.parameters)?.message)).toEqual(
      values.map(() => undefined),
    );
  });

  it.each(wrong)('a parameter that is wrong is refused: %s, %s', (format, name, values) => {
    expect(
      values.map((value) => complaint({ [name]: value }, descriptors[format].client.parameters)?.details.param),
    ).toEqual(values.map(() => name));
  });

  it.each<[string, JsonValue, JsonValue]>([
    ['temperature', 2, 2.1],
    ['topP', 0.5, '0.5'],
    ['maxOutputTokens', 1, 0],
    ['candidateCount', 8, 9],
    ['stopSequences', ['x'], 5],
    ['thinkingConfig', {}, true],
  ])('inside another is named with its path: generationConfig.%s', (name, fits, fails) => {
    expect(complaint({ generationConfig: { [name]: fits } }, descriptors.gemini.client.parameters)).toBeUndefined();
    const { param } =
      complaint({ generationConfig: { [name]: fails } }, descriptors.gemini.client.parameters)?.details ?? {};
    expect(param).toBe(`generationConfig.${name}`);
  });

  it.each<[Format, JsonObject, string]>([
    ['chat', { messages: [{ role: 'user' }, 5] }, 'messages[1]'],
    ['chat', { messages: [{ role: 5 }] }, 'messages[0].role'],
    ['chat', { messages: [{ role: 'user' }, {}] }, 'messages[1].role'],
    ['chat', { stop: ['x', 5] }, 'stop[1]'],
    ['chat', { tools: [5] }, 'tools[0]'],
    ['chat', { response_format: { type: 'zorg' } }, 'response_format.type'],
    ['responses', { input: [5] }, 'input[0]'],
    ['responses', { include: [5] }, 'include[0]'],
    ['messages', { messages: [5] }, 'messages[0]'],
    ['messages', { stop_sequences: [5] }, 'stop_sequences[0]'],
    ['messages', { thinking: { type: 'zorg' } }, 'thinking.type'],
    ['messages', { metadata: { user_id: 5 } }, 'metadata.user_id'],
    ['gemini', { contents: [5] }, 'contents[0]'],
    ['gemini', { generation_config: { top_k: 'x' } }, 'generationConfig.topK'],
    ['gemini', { generation_config: 5 }, 'generationConfig'],
  ])('is named with the place of the mistake in it: %s, %j', (format, body, param) => {
    expect(complaint(body, descriptors[format].client.parameters)?.details.param).toBe(param);
  });

  it('a parameter that is wrong is refused with what it must be', () => {
    const error = complaint({ temperature: 3 }, chatParameters);
    expect([error?.code, error?.message]).toEqual(['invalid_request', '`temperature` must be a number from 0 to 2.']);
  });

  it.each(['chat', 'responses', 'messages', 'images'] as const)(
    'a parameter that is null counts as left out, in %s',
    (format) => {
      const names = descriptors[format].client.parameters.documentedNames.keys();
      const nulls = Object.fromEntries(names.map((name) => [name, null]));
      expect(complaint(nulls, descriptors[format].client.parameters)).toBeUndefined();
    },
  );

  it('a parameter is checked in the spelling that counts where it has two', () => {
    const said = (config: JsonObject) =>
      complaint({ generationConfig: config }, descriptors.gemini.client.parameters)?.details.param;
    for (const other of [0.5, null]) {
      expect(said({ topP: other, top_p: 7 })).toBeUndefined();
      expect(said({ top_p: 7, topP: other })).toBeUndefined();
    }
    expect(said({ topP: 7, top_p: 0.5 })).toBe('generationConfig.topP');
    const two = { generationConfig: {}, generation_config: { topP: 7 } };
    expect(complaint(two, descriptors.gemini.client.parameters)).toBeUndefined();
  });

  it('a parameter that is unknown is left to the upstream', () => {
    expect(complaint({ tomorrow: { never: 'knows' } }, chatParameters)).toBeUndefined();
  });

  it('a parameter that a body only inherits counts as missing', () => {
    const body = Object.create({ temperature: 'hot' }) as JsonObject;
    expect(complaint(body, chatParameters)).toBeUndefined();
  });

  it('a parameter that comes first in the rules is named when several are wrong', () => {
    expect(complaint({ top_p: 9, n: 0 }, chatParameters)?.details.param).toBe('n');
  });
});

describe('a required parameter', () => {
  it.each([
    ['chat', 'chat', ['messages']],
    ['messages', 'messages', ['messages', 'max_tokens']],
    ['count_tokens', 'messages', ['messages']],
    ['images', 'images', ['prompt']],
  ] as const)('is asked for on %s', (endpoint, format, names) => {
    const body: JsonObject = { messages: [{ role: 'user' }], max_tokens: 1, prompt: 'x' };
    const missing = names.filter((name) => {
      const { [name]: _, ...rest } = body;
      return (
        complaint(rest, descriptors[format].client.parameters, requiredOn(format, endpoint))?.details.param === name
      );
    });
    expect(missing).toEqual(names);
  });

  it('a required parameter is missing when it is null, and the message names what it must be', () => {
    expect(complaint({ messages: null }, chatParameters, ['messages'])?.message).toBe(
      'Missing required parameter: `messages`. It must be a list with at least one entry.',
    );
  });

  it('a required parameter comes before one that is wrong', () => {
    expect(complaint({ temperature: 9 }, chatParameters, ['messages'])?.details.param).toBe('messages');
  });
});
