import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createRedisDiagnosis } from '#core/process/doctor/redis.ts';

/** What Redis 8 answers from another machine, while its default user has no password, before it closes the connection. */
const denied = '-DENIED Redis is running in protected mode because no password is set for the default user\r\n';

it('daypass doctor says of a Redis in protected mode, which closes connections, that it wants a password', async () => {
  // The client's words about it are for a log.
  vi.spyOn(console, 'warn').mockReturnValue();
  const server = createServer((socket) => socket.on('error', () => undefined).end(denied)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const [check] = createRedisDiagnosis(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined).checks(
    {} as never,
  );
  expect(await check?.run({} as never)).toMatchObject({
    state: 'failed',
    advice: expect.stringContaining('protected mode') as string,
  });
  server.close();
  vi.restoreAllMocks();
});
