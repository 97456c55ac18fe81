import { describe, expect, it } from 'vitest';
import { createKeyRefusedError, createThrottledError } from '#core/gateway/model-call/upstream-error.ts';
import { NameError } from '#core/platform/names/name-cache.ts';
import {
  createResponseFault,
  createConnectionFault,
  describeFault,
  Fault,
  faultEffects,
  createRouteFault,
  renameModel,
} from '../../../../plugins/upstream/attempt/fault.ts';

/** @param socket what came over the connection; left out when there was none */
const broken = (code: string, socket?: { requests: number; bytesRead: number; bytesReadBefore: number }) =>
  Object.assign(new Error('10.0.0.7:443 said no'), { code, ...(socket !== undefined && { socket }) });

it('a limit that is reported inside an answer is described with its wait, without secrets', () => {
  const fault = createResponseFault(createThrottledError(6.2, 'Limit of sk-secret-1 reached.'), 200, ['sk-secret-1']);
  expect(describeFault(fault)).toMatch(/^throttled: 200 retry after 7 s \(Limit of .* reached\.\)$/);
  expect(describeFault(fault)).not.toContain('sk-secret-1');
  expect([fault.kind, fault.error.details.retryAfter]).toEqual(['throttled', 6.2]);
});

it('a rejected key is described by what the upstream said, without secrets', () => {
  const fault = createResponseFault(createKeyRefusedError('Incorrect API key:\nsk-secret-1.'), 401, ['sk-secret-1']);
  expect(describeFault(fault)).toMatch(/^key: 401 Incorrect API key: [^\n]*\.$/);
  expect(describeFault(fault)).not.toContain('sk-secret-1');
});

describe('a connection that the gateway could not open', () => {
  const lacking = ['EMFILE', 'ENFILE', 'ENOBUFS', 'EADDRNOTAVAIL'];

  it.each(lacking)(
    'a connection that the gateway could not open is not the fault of its route after %s, and the client may try again',
    (code) => {
      const { kind, error } = createConnectionFault(broken(code), false);
      expect([kind, faultEffects[kind].breaker, error.status(undefined), error.details.retryAfter]).toEqual([
        'local',
        'release',
        503,
        1,
      ]);
    },
  );

  it('a connection that the gateway could not open is not the fault of its route when none of its addresses could be tried', () => {
    const thrown = Object.assign(new AggregateError([broken('EMFILE'), broken('EMFILE')]), { code: 'EMFILE' });
    expect(createConnectionFault(thrown, false).kind).toBe('local');
  });

  it('a connection that the gateway could not open is a failure of its route when one of its addresses refused, on a machine without IPv6', () => {
    const thrown = Object.assign(new AggregateError([broken('EADDRNOTAVAIL'), broken('ECONNREFUSED')]), {
      code: 'EADDRNOTAVAIL',
    });
    expect(createConnectionFault(thrown, false).kind).toBe('route');
  });
});

describe('a broken connection', () => {
  it.each(['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])('is a timeout after %s', (code) => {
    expect(createConnectionFault(broken(code), false).error.code).toBe('upstream_timeout');
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'ECONNRESET', ''])(
    'a broken connection is a failure after %j',
    (code) => {
      expect(createConnectionFault(broken(code), false).error.code).toBe('upstream_failed');
    },
  );

  it('a broken connection is described by the name that could not be resolved, where that is the reason', () => {
    const fault = createConnectionFault(new NameError('vendor.example'), false);
    expect([fault.kind, fault.error.code, fault.mayBeCausedByRequest]).toEqual(['route', 'upstream_failed', false]);
    expect(fault.error.message).toBe('The name of the upstream could not be resolved.');
    expect(describeFault(fault)).toBe(
      'route: The name of the upstream could not be resolved. (the name "vendor.example" could not be resolved: the name server has not responded)',
    );
  });

  it.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])(
    'is taken for a stale one when %s came before this answer, but after others',
    (code) => {
      const fault = createConnectionFault(broken(code, { requests: 2, bytesRead: 500, bytesReadBefore: 500 }), false);
      expect(fault.isStaleConnection).toBe(true);
    },
  );

  it.each([
    ['a new one', 1, 0],
    ['one that had brought others', 2, 500],
  ])('is no stale one when the answer had begun on %s, and the request may be the cause', (_name, requests, before) => {
    const socket = { requests, bytesRead: 520, bytesReadBefore: before };
    expect(createConnectionFault(broken('UND_ERR_SOCKET', socket), false)).toMatchObject({
      isStaleConnection: false,
      mayBeCausedByRequest: true,
    });
  });

  it('a broken connection is not stale on the first request, whatever the handshake had brought, and the request may be the cause', () => {
    const socket = { requests: 1, bytesRead: 1_500, bytesReadBefore: 1_500 };
    expect(createConnectionFault(broken('ECONNRESET', socket), false)).toMatchObject({
      isStaleConnection: false,
      mayBeCausedByRequest: true,
    });
  });

  it('a broken connection is not stale when it was reset before it was open, and no request is the cause', () => {
    expect(createConnectionFault(broken('ECONNRESET'), false)).toMatchObject({
      isStaleConnection: false,
      mayBeCausedByRequest: false,
    });
  });

  it('a broken connection is not stale once the upstream has begun to respond', () => {
    expect(
      createConnectionFault(broken('ECONNRESET', { requests: 2, bytesRead: 500, bytesReadBefore: 500 }), true)
        .isStaleConnection,
    ).toBe(false);
  });

  it('a broken connection that was refused is not stale', () => {
    expect(createConnectionFault(broken('ECONNREFUSED'), false).isStaleConnection).toBe(false);
  });

  it('a broken connection shows no address to the client, and keeps it for the log', () => {
    const cause = broken('ECONNREFUSED');
    const { error } = createConnectionFault(cause, false);
    expect(error.message).not.toContain('10.0.0.7');
    expect(error.cause).toBe(cause);
  });

  it('a connection broken by a fault of the gateway is reported as that fault', () => {
    const fault = createRouteFault('upstream_timeout', 'silent');
    expect(createConnectionFault(fault, false)).toBe(fault);
  });

  it.each([undefined, 'text', 5])('a connection broken by %j is a fault', (thrown) => {
    expect(createConnectionFault(thrown, false)).toBeInstanceOf(Fault);
  });
});

const shownOf = (message: string, upstreamName: string) =>
  renameModel(createRouteFault('upstream_failed', message), upstreamName, 'dp/mine').error.message;

describe('the name of the model in a message', () => {
  it.each([
    ['Model gpt-5 is busy.', 'Model dp/mine is busy.'],
    ['`gpt-5-2026-11-01` and "gpt-5" are busy', '`dp/mine` and "dp/mine" are busy'],
    ['gpt-5.1, gpt-5-mini and my-gpt-5 are others', 'gpt-5.1, gpt-5-mini and my-gpt-5 are others'],
  ])('is the client’s: %s', (given, shown) => {
    expect(shownOf(given, 'gpt-5')).toBe(shown);
  });

  it('the name of the model in a message stays where it may be a word', () => {
    expect(shownOf('the input is too large', 'large')).toBe('the input is too large');
  });
});
