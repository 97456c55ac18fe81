import { expect, it } from 'vitest';
import { parseOutputLimit } from '#core/gateway/model-call/output-limit.ts';
import { createReportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { findErrorMeaning, readRefusal } from '#core/gateway/model-call/upstream-error.ts';

it.each([
  ['max_completion_tokens=5000 cannot be greater than max_model_len=1024. Please request fewer output tokens.', 1_024],
  [
    'max_tokens=8192 cannot be greater than max_model_len=max_total_tokens=4096. Please request fewer output tokens.',
    4_096,
  ],
  ['max_tokens=64 cannot be greater than max_model_len=32. Please request fewer output tokens.', 32],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens (5000 > 4096 - 1000).",
    3_096,
  ],
  [
    "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    3_097,
  ],
  [
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 1000 tokens from the input messages and 4000 tokens for the completion.",
    3_096,
  ],
  ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1000 `inputs` tokens and 4000 `max_new_tokens`', 3_096],
  [
    'input length and `max_tokens` exceed context limit: 143653 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    56_347,
  ],
  ['max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-haiku', 8_192],
  [
    'max_tokens is too large: 64000. This model supports at most 16384 completion tokens, whereas you provided 64000.',
    16_384,
  ],
  ['Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 8_192],
  ['<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 65536]', 65_536],
  [
    '`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    16_384,
  ],
  [
    'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).',
    65_536,
  ],
])('%j leaves room for %d tokens, and is not about the prompt', (message, room) => {
  expect(parseOutputLimit(message)).toBe(room);
  expect(findErrorMeaning(readRefusal({ error: { message } }))).toBe('limit');
});

it.each([
  "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
  "This model's maximum context length is 4097 tokens. However, you requested 8000 tokens (5000 in the messages, 3000 in the completion).",
  'input length and `max_tokens` exceed context limit: 199900 + 8192 > 200000, decrease input length or `max_tokens` and try again',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
])('a prompt that leaves no room for an answer is too long: %j', (message) => {
  expect(parseOutputLimit(message)).toBeUndefined();
  expect(findErrorMeaning(readRefusal({ error: { message } }))).toBe('overflow');
});

it('a limit of output tokens that is refused inside an answer is the client’s error, with the largest limit', () => {
  const message = 'max_tokens=5000 cannot be greater than max_model_len=1024. Please request fewer output tokens.';
  const { code, details } = createReportedFailure(readRefusal({ error: { type: 'internal_error', message } }));
  expect([code, details]).toEqual([
    'upstream_rejected',
    { upstream: { status: 400 }, outputLimit: 1_024, meaning: 'limit' },
  ]);
});
