import { describe, expect, it } from 'vitest';
import { connectionFault, Fault, routeFault } from '../../../plugins/upstream/fault.ts';

const broken = (code: string) => Object.assign(new Error('10.0.0.7:443 said no'), { code });

describe('a broken connection', () => {
  it.each(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])(
    'is a timeout after %s',
    (code) => {
      expect(connectionFault(broken(code), false).error.code).toBe('upstream_timeout');
    },
  );

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'ECONNRESET', ''])('is a failure after %j', (code) => {
    expect(connectionFault(broken(code), false).error.code).toBe('upstream_failed');
  });

  it.each(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])(
    'is taken for a stale one when %s came before any answer',
    (code) => {
      expect(connectionFault(broken(code), false).isStaleConnection).toBe(true);
    },
  );

  it('is no stale one once the upstream has begun to answer', () => {
    expect(connectionFault(broken('ECONNRESET'), true).isStaleConnection).toBe(false);
  });

  it('that was refused is no stale one', () => {
    expect(connectionFault(broken('ECONNREFUSED'), false).isStaleConnection).toBe(false);
  });

  it('shows no address to the client, and keeps it for the log', () => {
    const cause = broken('ECONNREFUSED');
    const { error } = connectionFault(cause, false);
    expect(error.message).not.toContain('10.0.0.7');
    expect(error.cause).toBe(cause);
  });

  it('by a fault of ours stays that fault', () => {
    const fault = routeFault('upstream_timeout', 'silent');
    expect(connectionFault(fault, false)).toBe(fault);
  });

  it.each([undefined, 'text', 5])('by %j is a fault all the same', (thrown) => {
    expect(connectionFault(thrown, false)).toBeInstanceOf(Fault);
  });
});
