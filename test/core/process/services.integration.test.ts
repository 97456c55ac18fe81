import { tmpdir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import { OpenServices } from '#core/process/services.ts';
import { createTestDatabase, silentLog } from '../../support/database.ts';
import { closedPort } from '../../support/dead-ends.ts';

it('a gateway whose Redis is missing starts and says what that means', async () => {
  await using database = await createTestDatabase();
  const error = vi.fn<(message: string) => void>();
  await using services = await OpenServices.open({
    dataFolder: tmpdir(),
    environment: { DATABASE_URL: database.url, REDIS_URL: `redis://127.0.0.1:${await closedPort()}` },
    log: { ...silentLog, error },
    registry: new Registry(),
    mode: 'serve',
    host: () => expect.fail('nothing runs'),
  });
  expect(services.services.shared.kind).toBe('redis');
  expect(error).toHaveBeenCalledWith(
    expect.stringMatching(
      /^the Redis of REDIS_URL cannot be used \(.+\); the gateway starts degraded: until Redis is back, rate limits/,
    ),
  );
});
