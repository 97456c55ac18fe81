import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import { vi } from 'vitest';
import { readDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { Registry } from '#core/extension/registry.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { createHost, type Host } from '#core/gateway/host/host.ts';
import { OpenServices } from '#core/process/services.ts';
import { routePages } from '#core/web/serve.ts';
import { clockOf } from '../payments/sequences.ts';
import { runCommand } from '../support/command-line.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { createUpstream } from '../support/faulty-upstream.ts';
import { execute } from '../support/global-postgres.ts';
import { startMailServer } from '../support/mail-server.ts';
import { now, seedShop, session } from './seed.ts';

const yaml = (mailPort: number, webhook: string) => `
service: { name: Daypass, base_url: "http://daypass.localhost", contact: "mailto:hello@daypass.example", time_zone: Asia/Jakarta }
operators: [admin@example.com]
operator_api: { enabled: true }
pipeline: [auth, plan, rate-limit: { limit: 60, period: 60 }, format, upstream, log: { keep_days: 400 }]
upstreams:
  openai: { vendor: openai, api_keys: [golden], cost: { input: 0.35, cached: 0.075, output: 1.2, currency: USD } }
  other: { format: [chat], base_url: "http://127.0.0.1:9/v1" }
exchange_rates: { USD: 16400 }
models:
  gpt-6-sol: { routes: [openai/gpt-6-sol, other/gpt-6-sol] }
plans:
  - { days: 1, price: 18000, label: { en: for trying out, id: untuk mencoba } }
  - { days: 3, price: 48000 }
  - { days: 7, price: 95000, label: { en: for weekly work, id: untuk kerja mingguan } }
  - { days: 30, price: 289000 }
currency: IDR
payments: { gifts: true }
sales: { max_active: 200 }
outages: { credit: true, mail: true }
mail: { smtp: "smtp://127.0.0.1:${mailPort}", from: no-reply@daypass.example }
alerts: { mail: admin@example.com, webhook: { url: "${webhook}", secret: a-secret-of-24-characters-or-more } }
`;

/** The seeded shop, at rest: nothing listens, no job runs by itself, and time stands still. */
export interface GoldenWorld extends AsyncDisposable {
  /** Runs `daypass` with these words, and gives what it printed and its exit code. */
  run(...words: string[]): Promise<string>;
  /** Calls the operator's API with a token that may act. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<string>;
  /** Gets a path of the site, for Rani where it is about an account. */
  get(path: string): Promise<string>;
  /** `daypass routes` of a gateway that listens for operators. */
  routes(...words: string[]): Promise<string>;
  /** Sends what is due. @returns the mails as they were transferred, and the bodies that the webhook got */
  send(): Promise<{ readonly mails: readonly string[]; readonly webhooks: readonly string[] }>;
}

export async function openGoldenWorld(): Promise<GoldenWorld> {
  vi.useFakeTimers({ toFake: ['Date'], now });
  await using made = new AsyncDisposableStack();
  made.defer(() => void vi.useRealTimers());
  const url = await createBareDatabase();
  made.defer(() => dropDatabase(url));
  await execute(url, clockOf(new URL(url).pathname.slice(1)));
  await execute(url, `update model_clock.now set at = '${new Date(now).toISOString()}'`);
  const mailServer = made.use(await startMailServer());
  const webhooks: string[] = [];
  const receiver = made.use(
    await createUpstream((request, response) => {
      webhooks.push(request.body.toString());
      return response.json(200, {});
    }),
  );
  const folder = await mkdtemp(join(tmpdir(), 'daypass-golden-'));
  made.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, yaml(mailServer.port, `${receiver.url}/alerts`));
  const environment = { DATABASE_URL: url };
  const { host, registry, server, services } = await assembleShop(file, folder, environment);
  made.use(services);
  await seedShop(host.database);
  const run = async (...words: string[]) => {
    const { code, out, errors } = await runCommand(['--config', file, ...words], environment);
    return `$ daypass ${words.join(' ')}\n${out}${errors}${code === 0 ? '' : `exits with ${code}\n`}`;
  };
  const token = (await run('operator-token', 'create', 'golden', '--scope', 'act')).split('\n')[1] ?? '';
  const resources = made.move();
  return {
    run,
    async call(method, path, body) {
      const { statusCode, payload } = await server.inject({
        method,
        url: `/operator/api${path}`,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
      const answer = JSON.stringify(JSON.parse(payload), null, 2);
      return `${method} ${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}\n${statusCode}\n${answer}\n`;
    },
    async get(path) {
      const { statusCode, headers, payload } = await server.inject({
        url: path,
        headers: { cookie: `dp_session=${session}` },
      });
      return `GET ${path}\n${statusCode} ${headers['content-type']}\n${payload}\n`;
    },
    async routes(...words) {
      await using operator = await createUpstream((_request, response) =>
        response.json(200, { routes: registry.statusReports.get('routes')?.report(host) }),
      );
      return await run('routes', '--url', operator.url, ...words);
    },
    async send() {
      for (const name of ['send-mails', 'send-webhooks']) await registry.jobs.get(name)?.run({}, host);
      return { mails: mailServer.received.map(({ raw }) => raw), webhooks };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface Shop {
  readonly host: Host;
  readonly registry: Registry;
  readonly server: Server;
  readonly services: OpenServices;
}

/** All plugins on the database, as a command has them, with the pages and the routes of the operator's API. */
async function assembleShop(file: string, dataFolder: string, environment: Record<string, string>): Promise<Shop> {
  let host: Host = undefined as never;
  const log = { info: () => undefined, warn: () => undefined, error: console.error };
  const document = await readDocument(file, environment);
  const { registry, server } = await assemble(document, log, () => host);
  const config = validate(document, registry);
  const mode = 'command';
  const services = await OpenServices.open({ dataFolder, environment, log, registry, mode, host: () => host });
  const catalog = buildCatalog(config, registry.vendors, registry.formats);
  const jobs = { ...services.services.jobs, add: () => Promise.resolve() };
  host = createHost({ ...services.services, jobs, now: () => now }, config, catalog, config.stages);
  for (const { plugin, hook } of registry.configuredHooks) if (plugin === 'operator-api') await hook(server, host);
  await routePages(server, registry, () => host);
  return { host, registry, server, services };
}
