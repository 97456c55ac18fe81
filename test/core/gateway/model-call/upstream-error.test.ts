import { describe, expect, it } from 'vitest';
import { createReportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readRefusal, readReportedError, removeSecrets } from '#core/gateway/model-call/upstream-error.ts';
import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';

const codeOf = (error: object) => createReportedFailure(readReportedError({ error } as never)).code;

describe('an error inside an answer', () => {
  it.each([
    [{ code: 503, message: 'The service is down.', status: 'UNAVAILABLE' }, 'unavailable'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'unavailable'],
    [{ code: 529, message: 'no' }, 'unavailable'],
    [{ code: 504, message: 'no', status: 'DEADLINE_EXCEEDED' }, 'upstream_timeout'],
    [{ code: 429, message: 'no' }, 'rate_limited'],
    [{ code: 500, message: 'no', status: 'INTERNAL' }, 'upstream_failed'],
    [{ type: 'api_error', message: 'no' }, 'upstream_failed'],
    [{ type: 'invalid_request_error', message: 'Schema is too complex for compilation.' }, 'upstream_rejected'],
    [{ code: 'invalid_prompt', message: 'no' }, 'upstream_rejected'],
    [{ code: 400, message: 'no', status: 'INVALID_ARGUMENT' }, 'upstream_rejected'],
    [{ type: 'request_too_large', message: 'no' }, 'upstream_rejected'],
    [{ type: 'new_error', message: 'no' }, 'upstream_failed'],
    [{ type: null, code: 'content_filter', status: 400, message: 'The response was filtered.' }, 'upstream_rejected'],
    [{ code: 'cyber_policy', message: 'no' }, 'upstream_rejected'],
    [{ code: 'image_too_large', message: 'no' }, 'upstream_rejected'],
    [{ type: 'BadRequestError', code: 400, message: 'no' }, 'upstream_rejected'],
    [{ type: 'permission_error', message: 'no' }, 'upstream_account_rejected'],
    [{ code: 403, status: 'PERMISSION_DENIED', message: 'no' }, 'upstream_account_rejected'],
    [{ code: 403, message: 'Your input was flagged: it requires moderation.' }, 'upstream_rejected'],
    [{ code: 402, message: 'no' }, 'upstream_account_rejected'],
    [{ type: 'not_found_error', message: 'File not found: file_1' }, 'upstream_rejected'],
    [{ type: 'not_found_error', message: 'no' }, 'upstream_rejected'],
    [{ type: 'not_found_error', message: 'model: claude-x' }, 'upstream_failed'],
    [{ type: 'InternalServerError', code: 500, message: 'no' }, 'upstream_failed'],
    [{ code: 500, message: 'The content filter is down.' }, 'upstream_failed'],
  ])('%j is %s to the client', (error, code) => {
    expect(codeOf(error)).toBe(code);
  });

  it.each([
    ['invalid_request_error', 'Schema is too complex for compilation.'],
    ['not_found_error', 'File not found: file_1'],
  ])('keeps the words and the class of one that the same request always gets: %s', (type, message) => {
    const error = { type, message };
    const failure = createReportedFailure(readReportedError({ type: 'error', error }));
    expect(failure.isFinal).toBe(true);
    const caller = { id: '1', format: undefined, dialect: 'anthropic' } as const;
    expect(renderStreamError(failure, caller)).toContain(JSON.stringify(error));
    const written = renderStreamError(failure, { ...caller, dialect: 'openai' });
    expect(written).toContain(JSON.stringify({ message, type: 'invalid_request_error' }).slice(0, -1));
  });

  it('about the operator’s account says so, without words that make clients try again', () => {
    const failure = createReportedFailure(
      readReportedError({ error: { type: 'permission_error', message: 'secret' } }),
    );
    const written = renderStreamError(failure, { id: '1', format: undefined, dialect: 'anthropic' });
    expect(written).toContain(
      '"type":"api_error","message":"The provider of this model rejected this service\'s account',
    );
    expect(written).not.toMatch(/connection error|secret/i);
  });

  it('of Azure’s filter is the client’s, by its policy, with the type and code of OpenAI', () => {
    const error = { message: 'Filtered.', type: null, param: 'prompt', code: 'content_filter', status: 400 };
    const failure = createReportedFailure(readReportedError({ error }));
    expect(failure.details).toMatchObject({ meaning: 'rejected', upstream: { status: 400, isPolicyRefusal: true } });
    expect(failure.wording('openai')).toEqual({ type: 'invalid_request_error', code: 'content_filter' });
  });
});

describe('an exhausted account, in words without a code,', () => {
  const words = 'You exceeded your current quota, please check your plan and billing details.';

  it.each([
    [words],
    [`Error code: 429 - ${words}`],
    [`${words} For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes`],
  ])('is the operator’s: %s', (message) => {
    expect(codeOf({ message, code: 429 })).toBe('upstream_account_rejected');
  });

  it('is a limit of the moment in Google’s longer words', () => {
    const message = `${words} For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits. * Quota exceeded for metric: x, limit: 15`;
    expect(codeOf({ message, code: 429, status: 'RESOURCE_EXHAUSTED' })).toBe('rate_limited');
  });
});

describe('an error of MiniMax, which comes with status 200,', () => {
  it.each([
    [2013, 'invalid params, bad tool', 'upstream_rejected'],
    [1002, 'limited', 'rate_limited'],
    [1001, 'late', 'upstream_timeout'],
    [1008, 'no money', 'upstream_account_rejected'],
    [1013, 'broken', 'upstream_failed'],
  ])('%s, %j, is %s', (status_code, status_msg, code) => {
    expect(createReportedFailure(readReportedError({ base_resp: { status_code, status_msg } })).code).toBe(code);
  });
});

it.each([{}, { code: '', message: '' }, { code: 0, message: null, details: {} }])(
  'an error member without content, %j, is ignored in an answer',
  (error) => {
    expect(readReportedError({ status: 'completed', error })).toBeUndefined();
  },
);

it('reads the details that Mistral puts into the message', () => {
  const detail = [{ loc: ['body', 'store'], msg: 'Extra inputs are not permitted' }];
  const refusal = readRefusal({ object: 'error', message: { detail }, type: 'invalid_request_error' });
  expect(refusal.message).toBe('store: Extra inputs are not permitted');
});

describe('a vendor’s words', () => {
  it.each([
    ['write to ops@corp.example, please', 'write to […], please'],
    ['no route to internal-llm.corp.example:8443', 'no route to […]'],
    ['connect ECONNREFUSED fd00:12::5:8443', 'connect ECONNREFUSED […]'],
    ['connect ECONNREFUSED ::1:8443', 'connect ECONNREFUSED […]'],
    ['std::bad_alloc at 12:30:45', 'std::bad_alloc at 12:30:45'],
    ['gpt-4.1:20 and qwen2.5:7b are names of models', 'gpt-4.1:20 and qwen2.5:7b are names of models'],
  ])('%j are shown as %j', (words, shown) => {
    expect(removeSecrets(words, 500)).toBe(shown);
  });

  it('show no half of a secret where they are cut', () => {
    expect(removeSecrets('the key topsecretvendorkey', 14, ['topsecretvendorkey'])).toBe('the key […]');
  });
});
