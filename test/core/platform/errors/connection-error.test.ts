import { describe, expect, it } from 'vitest';
import { describeConnectionError, isConnectionError } from '#core/platform/errors/connection-error.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';

const coded = (code: string, message = 'to secret.example') => Object.assign(new Error(message), { code });

describe('the message for a failed dependency', () => {
  it.each<[unknown, string]>([
    [coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.1:5432'), 'connection refused'],
    [new SharedUnavailable('x', { cause: coded('', 'Command timed out') }), 'no response in time'],
    [
      new SharedUnavailable('x', {
        cause: coded('', "Stream isn't writeable and enableOfflineQueue options is false"),
      }),
      'not connected',
    ],
    [new Error('Reached the max retries per request limit (which is 0).'), 'not connected'],
    [
      new Error('x', { cause: coded('28P01', 'password authentication failed for user "secret"') }),
      'authentication failed',
    ],
    [coded('53100', 'could not extend file "base/5/1": No space left on device'), 'the disk is full'],
    [new Error('Connection terminated unexpectedly'), 'connection lost'],
    [new Error('no response in time'), 'no response in time'],
    [new SharedUnavailable('x', { cause: new Error('connection refused') }), 'connection refused'],
    [new SharedUnavailable('x', { cause: new Error('not connected') }), 'not connected'],
    [coded('ENOTFOUND', 'getaddrinfo ENOTFOUND secret.example'), 'host name not found'],
  ])('is one of ours: %s', (thrown, words) => {
    expect(describeConnectionError(thrown)).toBe(words);
  });

  it('never repeats that of a driver', () => {
    expect(describeConnectionError(new Error('postgres://me:secret@there'))).not.toContain('secret');
  });

  it('is not for mistakes in the code', () => {
    expect([isConnectionError(coded('ECONNRESET')), isConnectionError(new TypeError('x is not a function'))]).toEqual([
      true,
      false,
    ]);
  });
});
