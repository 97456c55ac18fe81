import { describe, expect, it } from 'vitest';
import { createReportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { descriptors } from '../../../support/formats.ts';
import { fromServer, refusal } from './refusal-fixture.ts';

const unreported = { type: undefined, code: undefined, param: undefined };

describe('a server’s refusal of a prompt that is too long', () => {
  it.each([
    [
      400,
      fromServer(
        400,
        'exceed_context_size_error',
        'request (18022 tokens) exceeds the available context size (1024 tokens), try increasing it',
        {
          n_prompt_tokens: 18_022,
          n_ctx: 1_024,
        },
      ),
      1_024,
    ],
    [
      400,
      fromServer(
        400,
        'exceed_context_size_error',
        'the request exceeds the available context size. try increasing the context size or enable context shift',
      ),
      undefined,
    ],
    [
      400,
      fromServer(
        400,
        'invalid_request_error',
        'input (900 tokens) is larger than the max context size (512 tokens). skipping',
      ),
      512,
    ],
    [
      500,
      fromServer(
        500,
        'server_error',
        'input (600 tokens) is too large to process. increase the physical batch size (current batch size: 512)',
      ),
      512,
    ],
    [500, fromServer(500, 'server_error', 'Context size has been exceeded.'), undefined],
    [400, { detail: 'Protected conversation exceeds the available context budget.' }, undefined],
    [
      422,
      {
        error: 'Input validation error: `inputs` must have less than 4095 tokens. Given: 9000',
        error_type: 'validation',
      },
      4_095,
    ],
    [
      422,
      {
        error:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 9000 `inputs` tokens and 20 `max_new_tokens`',
        error_type: 'validation',
      },
      4_096,
    ],
    [
      400,
      fromServer(
        400,
        'BadRequestError',
        "This model's maximum context length is 1024 tokens. However, your request has 2000 input tokens.",
        { param: 'input_tokens' },
      ),
      1_024,
    ],
  ])('with status %d is an overflow for tools of every vendor: %j', (status, body, window) => {
    const fault = refusal(status, body);
    expect([fault.kind, fault.status, fault.error.status(descriptors.chat)]).toEqual(['overflow', status, 400]);
    expect(fault.error.details.contextWindow).toBe(window);
    expect(fault.error.wording('openai')).toEqual({ type: expect.any(String), code: 'context_length_exceeded' });
    expect(fault.error.messageFor('anthropic')).toMatch(/^prompt is too long: /);
    expect(fault.error.messageFor('google')).toMatch(
      /^The input token count( \(\d+\))? exceeds the maximum number of tokens allowed/,
    );
  });
});

describe('a vendor’s words for a prompt that is too long', () => {
  it.each([
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ['Please reduce the length of the messages or completion.', undefined],
    ['Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)', 262_144],
    ['Prompt exceeds max length', undefined],
    ['Input is too long for requested model.', undefined],
    ['Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens.', 272_000],
    ['prompt token count of 74490 exceeds the limit of 72000', 72_000],
    ['The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 4_096],
    ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).', 1_048_575],
    ['prompt is too long: 208310 tokens > 200000 maximum', 200_000],
    ['Unable to submit request because the input token count is 32825 but model only supports up to 32768.', 32_768],
    ['The input token count exceeds the maximum number of tokens allowed 1048576.', 1_048_576],
    ['The prompt is too long: 265392, model maximum context length: 262144', 262_144],
  ])('%s', (message, window) => {
    const { kind, error } = refusal(400, { error: { message } });
    expect([kind, error.wording('openai').code, error.details.contextWindow]).toEqual([
      'overflow',
      'context_length_exceeded',
      window,
    ]);
  });

  it.each([
    [
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      undefined,
      'prompt is too long: $& (too many tokens)',
      'The input token count exceeds the maximum number of tokens allowed: $&',
    ],
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      undefined,
      'prompt is too long: 9000 tokens > 8192 maximum: $&',
      'The input token count (9000) exceeds the maximum number of tokens allowed (8192): $&',
    ],
    [
      'request (18022 tokens) exceeds the available context size (1024 tokens), try increasing it',
      'Your input exceeds the context window of this model: $&',
      'prompt is too long: 18022 tokens > 1024 maximum: $&',
      'The input token count (18022) exceeds the maximum number of tokens allowed (1024): $&',
    ],
    [
      'prompt is too long: 208310 tokens > 200000 maximum',
      'Your input exceeds the context window of this model: $&',
      undefined,
      'The input token count (208310) exceeds the maximum number of tokens allowed (200000): $&',
    ],
    [
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
      'Your input exceeds the context window of this model: $&',
      'prompt is too long: 1196265 tokens > 1048575 maximum: $&',
      undefined,
    ],
    [
      "This model's maximum context length is 9000 tokens. However, you requested 300 tokens.",
      undefined,
      'prompt is too long: $&',
      'The input token count exceeds the maximum number of tokens allowed: $&',
    ],
    [
      'prompt is too long for the model',
      'Your input exceeds the context window of this model: $&',
      '$& (too many tokens)',
      'The input token count exceeds the maximum number of tokens allowed: $&',
    ],
  ])('reach tools in their vendor’s words: %s', (message, ...expected) => {
    const { error } = refusal(400, { error: { message } });
    const words = (['openai', 'anthropic', 'google'] as const).map((dialect) => error.messageFor(dialect));
    expect(words).toEqual(expected.map((text = '$&') => text.replace('$&', () => message)));
  });

  it.each([
    [
      'maximum context length is 128,000 tokens. However, your messages resulted in 1,300,123 tokens.',
      1_300_123,
      128_000,
    ],
    ['prompt is too long: 208,310 tokens > 200,000 maximum', 208_310, 200_000],
    ['The prompt is too long: 265392, model maximum context length: 262144', 265_392, 262_144],
    ['the input token count is 32825 but model only supports up to 32768.', 32_825, 32_768],
    ['exceeded the context window of 128k: the prompt has 130000 tokens', 130_000, undefined],
    ['exceeded the context window of 1.5M: the prompt has 1.6M tokens', undefined, undefined],
    // The limit of output tokens is not the size of the prompt.
    [
      'maximum context length is 8192 tokens. However, you requested 9000 output tokens and your prompt contains 100 input tokens',
      100,
      8_192,
    ],
    // vLLM stops counting at the limit.
    [
      'maximum context length is 8192 tokens. However, you requested 0 output tokens and your prompt contains at least 8193 input tokens',
      0,
      8_192,
    ],
    ['maximum context length is 8192 tokens. However, you requested 99999999999999999999 tokens.', undefined, 8_192],
  ])('states its sizes or none: %s', (message, promptTokens, contextWindow) => {
    const { details } = refusal(400, { error: { message } }).error;
    expect([details.promptTokens, details.contextWindow]).toEqual([promptTokens || undefined, contextWindow]);
  });

  it.each([1e21, 900.5, -1])('beside it, %d is not a count of tokens', (tokens) => {
    const server = { message: 'too big', type: 'exceed_context_size_error', n_prompt_tokens: tokens, n_ctx: 512 };
    const { error } = refusal(400, { error: server });
    expect(error.messageFor('anthropic')).toBe('prompt is too long: too big (too many tokens)');
  });

  it.each([
    'Too many tokens, please wait before trying again.',
    'ThrottlingException: Too many tokens per day, please wait before trying again.',
  ])('is not a rate limit of Bedrock: %s', (message) => {
    expect(refusal(400, { error: { message } }).kind).toBe('throttled');
    expect(createReportedFailure({ ...unreported, message }).code).toBe('rate_limited');
  });

  it('reach Claude Code with the sizes that llama.cpp counts beside its message', () => {
    const server = { message: 'too big', type: 'exceed_context_size_error', n_prompt_tokens: 900, n_ctx: 512 };
    const { error } = refusal(400, { error: server });
    expect(error.messageFor('anthropic')).toBe('prompt is too long: 900 tokens > 512 maximum: too big');
  });

  it('may name a limit of output tokens, which is not the prompt', () => {
    const message =
      '`max_tokens` must be less than or equal to `32768`, reduce the length of the messages or completion';
    expect(refusal(400, { error: { message } }).error.wording('openai').code).toBe(null);
  });
});
