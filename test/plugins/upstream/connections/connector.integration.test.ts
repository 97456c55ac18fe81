import dns from 'node:dns';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NameError } from '#core/platform/names/name-cache.ts';
import { createConnector } from '../../../../plugins/upstream/connections/connector.ts';
import { createBlackHole } from '../../../support/dead-ends.ts';

/** What a connection to this host fails with when it is not open after 50 ms. */
async function failureOf(hostname: string, port = 1): Promise<Error | undefined> {
  const failed = Promise.withResolvers<Error | undefined>();
  const onread = { buffer: Buffer.alloc(1), callback: () => true };
  createConnector(`http://${hostname}:${port}`, 0.05)(onread, (error) => failed.resolve(error));
  return failed.promise;
}

describe('a connection that is not open in time', () => {
  const real = dns.lookup;
  beforeEach(() => {
    dns.lookup = (() => undefined) as unknown as typeof dns.lookup;
  });
  afterEach(() => {
    dns.lookup = real;
  });

  it('a connection that is not open in time fails because of its name, while that is not resolved', async () => {
    expect(await failureOf('vendor.example')).toEqual(new NameError('vendor.example'));
  });

  it('a connection that is not open in time fails with a timeout, once the name is resolved', async () => {
    await using hole = await createBlackHole();
    dns.lookup = ((_hostname: string, _options: object, callback: (error: null, addresses: object[]) => void) =>
      process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof dns.lookup;
    expect(await failureOf('vendor.example', hole.port)).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
  });

  it('a connection that is not open in time fails with a timeout, when it is to an IP address', async () => {
    await using hole = await createBlackHole();
    expect(await failureOf('127.0.0.1', hole.port)).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
  });
});
