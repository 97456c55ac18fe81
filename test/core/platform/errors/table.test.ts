import { describe, expect, it } from 'vitest';
import { ClientGone, type ErrorCode, errorKinds, GatewayError, toGatewayError } from '#core/platform/errors/table.ts';
import { type Format, descriptors } from '../../../support/formats.ts';

const formats = ['chat', 'responses', 'messages', 'images'] as const;
const codes = Object.keys(errorKinds) as ErrorCode[];
const statusOf = (code: ErrorCode, format?: Format) =>
  new GatewayError(code, 'no').status(format && descriptors[format]);

describe('the status of an error', () => {
  /** What clients do with a status was observed; a change here changes what they repeat. */
  it.each<[ErrorCode, number, number, number, number]>([
    ['invalid_request', 400, 400, 400, 400],
    ['invalid_api_key', 401, 401, 401, 401],
    ['plan_inactive', 402, 400, 402, 402],
    ['account_blocked', 403, 403, 403, 403],
    ['forbidden', 403, 403, 403, 403],
    ['not_found', 404, 404, 404, 404],
    ['model_not_found', 404, 400, 404, 404],
    ['method_not_allowed', 405, 405, 405, 405],
    ['request_timeout', 408, 408, 408, 408],
    ['request_too_large', 413, 413, 413, 413],
    ['unsupported_media_type', 415, 415, 415, 415],
    ['upgrade_required', 426, 426, 426, 426],
    ['rate_limited', 429, 429, 429, 429],
    ['internal_error', 500, 500, 500, 500],
    ['not_supported', 400, 400, 400, 501],
    ['unsupported_content', 400, 400, 400, 400],
    ['upstream_rejected', 400, 400, 400, 400],
    ['upstream_failed', 502, 502, 502, 502],
    ['unavailable', 503, 503, 529, 503],
    ['shutting_down', 503, 503, 503, 503],
    ['upstream_timeout', 504, 504, 504, 504],
  ])('%s is %i for chat, %i for responses, %i for messages and %i for images', (code, ...statuses) => {
    expect(formats.map((format) => statusOf(code, format))).toEqual(statuses);
  });

  it('of an unsupported request is not one that Gemini’s clients retry', () => {
    expect(statusOf('not_supported', 'gemini')).toBe(400);
    expect(new GatewayError('not_supported', 'no').wording('google', 400).type).toBe('INVALID_ARGUMENT');
  });

  it.each(codes)('of %s is the one of the table on paths without a format', (code) => {
    expect(statusOf(code)).toBe(errorKinds[code].status);
  });

  it.each(formats)('is the upstream’s own when it refused the request, in %s', (format) => {
    const error = new GatewayError('upstream_rejected', 'no', { upstream: { status: 409 } });
    expect(error.status(descriptors[format])).toBe(409);
  });
});

describe('an error', () => {
  it.each(codes)('has words in both dialects: %s', (code) => {
    const error = new GatewayError(code, 'no');
    expect(error.wording('openai').type).toMatch(/^[a-z_]+$/);
    expect(error.wording('anthropic').type).toMatch(/^[a-z_]+$/);
  });

  it('has the upstream’s words where there are some', () => {
    const error = new GatewayError('upstream_rejected', 'no', { upstream: { status: 400, type: 't', code: 'c' } });
    expect(error.wording('openai')).toEqual({ type: 't', code: 'c' });
  });

  it.each([
    [400, 'invalid_request_error', 'invalid_request_error'],
    [404, 'invalid_request_error', 'not_found_error'],
    [413, 'invalid_request_error', 'request_too_large'],
    [400, 'overloaded', 'invalid_request_error'],
    [400, 'request_too_large', 'request_too_large'],
  ])('of an upstream with status %d and type %s is %s in Anthropic’s words', (status, type, expected) => {
    const error = new GatewayError('upstream_rejected', 'no', { upstream: { status, type } });
    expect(error.wording('anthropic').type).toBe(expected);
  });

  it('is final unless the same request may be answered later', () => {
    expect(codes.filter((code) => !new GatewayError(code, 'no').isFinal)).toEqual([
      'request_timeout',
      'rate_limited',
      'internal_error',
      'upstream_failed',
      'unavailable',
      'shutting_down',
      'upstream_timeout',
    ]);
  });

  it.each([
    [400, true],
    [404, true],
    [409, false],
    [413, true],
    [422, true],
  ])('of an upstream with status %d is final: %s', (status, isFinal) => {
    expect(new GatewayError('upstream_rejected', 'no', { upstream: { status } }).isFinal).toBe(isFinal);
  });

  it.each<[ErrorCode, number | undefined, boolean]>([
    ['invalid_request', 400, false],
    ['upstream_failed', 502, true],
    ['upstream_failed', 200, true],
    ['upstream_failed', undefined, true],
    ['upstream_account_rejected', 424, true],
    ['upstream_account_rejected', 400, true],
  ])('%s with status %s counts as a failure of the service: %s', (code, status, isFailure) => {
    expect(new GatewayError(code, 'no').isFailure(status)).toBe(isFailure);
  });

  it('has a cause only when one was given', () => {
    expect(new GatewayError('internal_error', 'no')).not.toHaveProperty('cause');
    expect(new GatewayError('internal_error', 'no', { cause: 5 }).cause).toBe(5);
  });
});

describe('what was thrown', () => {
  it('stays what it is when the caller may see it', () => {
    const error = new GatewayError('forbidden', 'no');
    expect(toGatewayError(error)).toBe(error);
  });

  it.each([new TypeError('secret'), 'secret', undefined, null, new ClientGone()])(
    'is a mistake of the gateway otherwise, without its words (%s)',
    (thrown) => {
      const error = toGatewayError(thrown);
      expect(error.code).toBe('internal_error');
      expect(error.message).not.toContain('secret');
    },
  );

  it('is kept for the log', () => {
    const thrown = new TypeError('secret');
    expect(toGatewayError(thrown).cause).toBe(thrown);
  });
});
