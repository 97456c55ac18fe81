import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createLogger } from '#core/logger.ts';
import { startGateway, type TestGateway, yamlFor } from '../support/gateway.ts';
import { PageClient } from '../support/page-client.ts';

const operator = 'ops@example.com';
/** The monitor looks every five seconds. */
const patience = { timeout: 20_000, interval: 100 };
const reason = 'the lamp is broken. Replace it.';

/** Fails while `broken` is in the data folder. */
const plugin = `
import { existsSync } from 'node:fs';
import { join } from 'node:path';
export const plugin = {
  name: 'lamp',
  register(server) {
    server.gateway.healthCheck({
      name: 'lamp',
      check: ({ dataFolder }) =>
        existsSync(join(dataFolder, 'broken')) ? { ok: false, reason: '${reason}', since: 1_000 } : { ok: true },
    });
  },
};
`;

let gateway: TestGateway;
let broken = '';
const lines: string[] = [];
beforeAll(async () => {
  gateway = await startGateway({
    yaml: `${yamlFor('http://127.0.0.1:9')}operators: [${operator}]\nplugins: [./lamp.mjs]\n`,
    files: { 'lamp.mjs': plugin },
    log: createLogger((line) => void lines.push(line)),
  });
  broken = join(gateway.gateway.host.dataFolder, 'broken');
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const logged = (text: string) => lines.filter((line) => line.includes(text)).length;
const read = async (path: string) => (await fetch(`${gateway.operatorUrl}${path}`)).text();
const readiness = async () => JSON.parse(await read('/readyz?verbose')) as { status: string; checks: object[] };

it('a failing check is in readiness, metrics, log and operator pages, and the gateway stays ready', async () => {
  const client = new PageClient(gateway.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
  expect((await readiness()).status).toBe('ok');

  await writeFile(broken, '');
  const { status, checks } = await readiness();
  expect(status).toBe('degraded');
  expect(checks).toContainEqual({ name: 'lamp', ok: false, reason, since: '1970-01-01T00:00:01.000Z' });
  expect(await read('/metrics')).toContain('health_check{check="lamp"} 0');
  expect((await client.get('/operator')).text).toContain(`<strong>lamp</strong>: ${reason}`);
  expect((await client.get('/operator/health')).text).toContain(reason);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  await vi.waitFor(() => expect(logged(`health check "lamp" fails: ${reason}`)).toBe(1), patience);

  await rm(broken);
  expect((await readiness()).status).toBe('ok');
  expect(await read('/metrics')).toContain('health_check{check="lamp"} 1');
  await vi.waitFor(() => expect(logged('health check "lamp" passes again')).toBe(1), patience);
  expect(logged('health check "lamp" fails')).toBe(1);
});
