import { describe, expect, it } from 'vitest';
import { describeConnectionError } from '#core/errors/connection-error.ts';
import { SharedUnavailable } from '#core/shared/shared.ts';

const coded = (code: string, message = 'to secret.example') => Object.assign(new Error(message), { code });

describe('why a dependency is away', () => {
  it.each<[unknown, string]>([
    [coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'), 'the connection was refused'],
    [new SharedUnavailable('x', { cause: coded('', 'Command timed out') }), 'it did not answer in time'],
    [
      new SharedUnavailable('x', {
        cause: coded('', "Stream isn't writeable and enableOfflineQueue options is false"),
      }),
      'there is no connection to it',
    ],
    [
      new Error('x', { cause: coded('28P01', 'password authentication failed for user "secret"') }),
      'it does not let the gateway in',
    ],
    [new Error('Connection terminated unexpectedly'), 'the connection broke'],
    [new Error('no answer in time'), 'it did not answer in time'],
    [coded('ENOTFOUND', 'getaddrinfo ENOTFOUND secret.example'), 'the name of its host is not known'],
  ])('is said in words of ours: %s', (thrown, words) => {
    expect(describeConnectionError(thrown)).toBe(words);
  });

  it('is not said in words of anybody else', () => {
    expect(describeConnectionError(new Error('postgres://me:secret@there'))).not.toContain('secret');
  });
});
