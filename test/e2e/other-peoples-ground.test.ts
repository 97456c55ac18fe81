import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { describe, expect, inject, it, vi } from 'vitest';
import { createLogger } from '#core/platform/logger.ts';
import { type NamedMetric, seriesBehindCollector } from '../deploy/collector-names.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { startFakeGitLab } from '../support/fake-gitlab.ts';
import { createFakeXendit } from '../support/fake-xendit.ts';
import { startGateway, wholePipeline } from '../support/gateway.ts';
import { execute } from '../support/global-postgres.ts';
import { PageClient } from '../support/page-client.ts';
import { hasPgBouncer, PgBouncers } from '../support/pgbouncer.ts';

vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const role = `daypass_ground_${randomBytes(4).toString('hex')}`;

/** A database whose role somebody else made: a schema of its own, no right to `public`, and their date style. */
async function openGround(): Promise<AsyncDisposable & { readonly direct: string }> {
  const admin = await createBareDatabase('template0');
  const name = new URL(admin).pathname.slice(1);
  await execute(inject('postgresUrl'), `CREATE ROLE ${role} LOGIN PASSWORD 'secret' NOSUPERUSER`);
  // The job queue has a schema of its own.
  await execute(inject('postgresUrl'), `GRANT CREATE ON DATABASE ${name} TO ${role}`);
  await execute(inject('postgresUrl'), `ALTER ROLE ${role} SET DateStyle = 'German, DMY'`);
  await execute(admin, `CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
  return {
    direct: Object.assign(new URL(admin), { username: role, password: 'secret' }).href,
    async [Symbol.asyncDispose]() {
      await dropDatabase(admin);
      await execute(inject('postgresUrl'), `DROP ROLE ${role}`);
    },
  };
}

/** Keeps the names of what is reported, as Prometheus has them behind an OpenTelemetry Collector. */
async function openCollector(): Promise<AsyncDisposable & { readonly url: string; readonly series: Set<string> }> {
  const series = new Set<string>();
  interface Report {
    readonly resourceMetrics?: { readonly scopeMetrics: { readonly metrics: NamedMetric[] }[] }[];
  }
  const server = createServer(async (request, response) => {
    const { resourceMetrics = [] } = JSON.parse(gunzipSync(await buffer(request)).toString()) as Report;
    const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    for (const name of metrics.flatMap(seriesBehindCollector)) series.add(name);
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    series,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

describe.skipIf(!hasPgBouncer)('where everything around it is somebody else’s (needs PgBouncer)', () => {
  it('a new operator installs the gateway, sells in Xendit’s test mode to a user from GitLab, and reads its metrics in Prometheus', async () => {
    await using ground = await openGround();
    await using poolers = await PgBouncers.open(ground.direct);
    await using collector = await openCollector();
    const user = {
      id: 7,
      username: 'rani',
      name: 'Rani',
      email: 'rani@example.com',
      confirmed_at: '2026-01-02T03:04:05Z',
    };
    await using gitlab = await startFakeGitLab(user);
    await using xendit = await createFakeXendit({ secretKey: 'xnd_development_TESTKEY' });
    const yaml = `${wholePipeline}
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
payments: { provider: xendit }
xendit: ${JSON.stringify(xendit.section)}
sign_in: { gitlab: { client_id: id, client_secret: secret, config: { uri: "${gitlab.uri}" } } }
telemetry: { endpoint: "${collector.url}", protocol: http/json, metrics_interval: 1 }
`;
    const lines: string[] = [];
    await using shop = await startGateway({
      yaml,
      environment: { DATABASE_URL: await poolers.start('transaction'), DATABASE_DIRECT_URL: ground.direct },
      log: createLogger((line) => void lines.push(line)),
    });
    await shop.write(`${yaml}service: { base_url: "${shop.url}" }\n`);
    await shop.gateway.reload();
    xendit.notificationUrl = `${shop.url}/hooks/xendit`;
    // What the pooler keeps the gateway from setting is named with what helps.
    expect(lines.join('')).toContain(`ALTER ROLE "${role}" SET datestyle = 'ISO'`);
    const client = new pg.Client(ground.direct);
    await client.connect();
    // The job queue has a schema, and a table of migrations, of its own.
    const { rows } = await client.query(
      `SELECT DISTINCT schemaname FROM pg_tables
       WHERE tablename IN ('account', 'migration', 'payments_sandbox_charge') AND schemaname <> 'bullmq'`,
    );
    await client.end();
    expect(rows).toEqual([{ schemaname: role }]);

    const buyer = new PageClient(shop.url);
    const landed = await buyer.follow(await buyer.get('/sign-in/gitlab?next=/buy'));
    expect([landed.status, landed.url.pathname]).toEqual([200, '/buy']);
    const { location } = await buyer.submit('/buy', '/buy', { days: '7' });
    expect(location).toMatch(/^\/orders\/ORD-\w+$/);
    const page = await vi.waitFor(
      async () => {
        const { text } = await buyer.get(location);
        expect(text).toContain('/simulate');
        return text;
      },
      { timeout: 20_000, interval: 100 },
    );
    // The command of the page, as the operator runs it.
    const [shown = ''] = /curl -u[^<]+\/simulate/.exec(page) ?? [];
    const command = shown.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
    await run('sh', ['-c', command], { env: { ...process.env, XENDIT_SECRET_KEY: xendit.secretKey } });
    await vi.waitFor(async () => expect((await buyer.get(`${location}/done`)).text).toContain('Paid'), {
      timeout: 30_000,
      interval: 100,
    });
    const { text } = await buyer.submit(`${location}/done`, `${location}/key`);
    const [, key = ''] = /<code id="key">([^<]+)/.exec(text) ?? [];
    const answer = await fetch(`${shop.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'dp/demo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(answer.status).toBe(200);
    // Seven days from now, to the minute.
    const [period] = await shop.database.query<{ left: number }>(
      `SELECT extract(epoch FROM p.ends_at - clock_timestamp())::float8 AS left
       FROM plan_period p JOIN account a ON a.id = p.account_id WHERE a.email = 'rani@example.com'`,
    );
    expect(Math.abs((period?.left ?? 0) - 7 * 86_400)).toBeLessThan(60);

    await vi.waitFor(
      async () => {
        const scraped = await (await fetch(`${shop.operatorUrl}/metrics`)).text();
        const names = new Set([...scraped.matchAll(/^(daypass_\w+)(?:\{| )/gm)].map(([, name = '']) => name));
        expect(names.size).toBeGreaterThan(40);
        expect([...names].filter((name) => !collector.series.has(name))).toEqual([]);
        expect([...collector.series].filter((name) => name.startsWith('daypass_') && !names.has(name))).toEqual([]);
      },
      { timeout: 30_000, interval: 500 },
    );
  });
});
