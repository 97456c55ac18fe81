/** The measured gateway, in a separate process: every stage, embedded PostgreSQL, limits that no load reaches. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { createLogger } from '#core/platform/logger.ts';
import { Gateway } from '#core/process/app.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { benchPipeline } from './pipeline.ts';
import { reportFigures } from './process-figures.ts';

/** Without the last two, PostgreSQL is embedded and a single instance runs without Redis. */
const [upstream, databaseUrl, redisUrl] = process.argv.slice(2) as [string, string?, string?];
const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-'));
// PostgreSQL may run as a different user, which must be able to enter the folder.
await chmod(folder, 0o755);
const file = join(folder, 'gateway.yaml');

await writeFile(
  file,
  `listen: { port: 0, notice_period: 0 }${benchPipeline(upstream)}websocket: { max_sockets: 100000 }\n`,
);

const gateway = await Gateway.start({
  file,
  environment: { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl },
  log: createLogger(),
});
const { database, service } = gateway.host;
const { key } = await createAccount(database, service.prefix, { name: 'Bench', period: { days: 1, reason: 'grant' } });
process.once('SIGTERM', () => {
  void gateway
    .stop()
    .then(() => rm(folder, { recursive: true, force: true }))
    .finally(() => process.exit(0));
});
const visitors: Awaited<ReturnType<typeof createVisitor>>[] = [];
// Accounts are created one at a time, because the machine may be busy and connecting has a deadline.
for (let index = 0; index < 50; index++) visitors.push(await createVisitor(index));
reportFigures({ port: Number(new URL(gateway.url).port), key, visitors });

async function createVisitor(index: number) {
  const period = { days: 7, reason: 'grant' } as const;
  const account = await createAccount(database, service.prefix, { name: `Visitor ${index}`, period });
  const { token } = await new Sessions(database).create(account.accountId, 'bench');
  return { key: account.key, cookie: `${service.prefix}_session=${token}` };
}
