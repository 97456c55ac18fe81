import { describe, expect, it } from 'vitest';
import { readReportedError, reportedFailure, withoutSecrets } from '#core/model-call/upstream-error.ts';

const codeOf = (error: object) => reportedFailure(readReportedError({ error } as never)).code;

describe('an error inside an answer', () => {
  it.each([
    [{ code: 503, message: 'The service is down.', status: 'UNAVAILABLE' }, 'unavailable'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'unavailable'],
    [{ code: 529, message: 'no' }, 'unavailable'],
    [{ code: 504, message: 'no', status: 'DEADLINE_EXCEEDED' }, 'upstream_timeout'],
    [{ code: 429, message: 'no' }, 'rate_limited'],
    [{ code: 500, message: 'no', status: 'INTERNAL' }, 'upstream_failed'],
    [{ type: 'api_error', message: 'no' }, 'upstream_failed'],
  ])('%j is %s to the client', (error, code) => {
    expect(codeOf(error)).toBe(code);
  });
});

describe('a vendor’s words', () => {
  it.each([
    ['write to ops@corp.example, please', 'write to […], please'],
    ['no route to internal-llm.corp.example:8443', 'no route to […]'],
    ['gpt-4.1:20 and qwen2.5:7b are names of models', 'gpt-4.1:20 and qwen2.5:7b are names of models'],
  ])('%j are shown as %j', (words, shown) => {
    expect(withoutSecrets(words, 500)).toBe(shown);
  });

  it('show no half of a secret where they are cut', () => {
    expect(withoutSecrets('the key topsecretvendorkey', 14, ['topsecretvendorkey'])).toBe('the key […]');
  });
});
