/**
 * Runs in a tree without a capability (`check-deletion.ts`): starts the gateway with the sample gateway.yaml, calls it with a key, and
 * opens every page as an operator and as a visitor. Prints what fails.
 *
 *     node .ci/try-pages.ts postgres://… '[["telemetry"]]'
 */
import { rm } from 'node:fs/promises';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { createLogger } from '#core/platform/logger.ts';
import { Gateway } from '#core/process/app.ts';
import { Sessions } from '#core/web/sessions/sessions.ts';
import { createGatewayFolder } from '../test/support/gateway-home.ts';
import { sampleWithout } from './sample-without.ts';

const [databaseUrl = '', given = '[]'] = process.argv.slice(2);
const lines = JSON.parse(given) as string[][];
const email = 'operator@example.com';
const { folder, file } = await createGatewayFolder(`${sampleWithout([...lines, ['listen']])}\noperators: [${email}]\n`);
const failures: string[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (line: string) => failures.push(`log: ${line}`) };
try {
  const gateway = await Gateway.start({ file, environment: { DATABASE_URL: databaseUrl }, log });
  try {
    await visit(gateway);
  } finally {
    await gateway.stop();
  }
} catch (error) {
  failures.push(`does not start: ${error instanceof Error ? error.message : String(error)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const line of failures) console.error(line);
process.exit(failures.length > 0 ? 1 : 0);

async function visit({ host: { database }, url }: Gateway): Promise<void> {
  const { accountId, key } = await createAccount(database, 'dp', {
    name: 'Operator',
    email,
    period: { days: 1, reason: 'grant' },
  });
  const { token } = await new Sessions(database).create(accountId, 'try-pages');
  const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  if (!models.ok) failures.push(`GET /v1/models: ${models.status}`);
  const { registry } = await assembleForCommand(undefined, createLogger(), () => {
    throw new Error('nothing is served');
  });
  for (const { path } of registry.pages) {
    for (const headers of [{ cookie: `dp_session=${token}` }, {}]) {
      // Pages of a single order, account or file respond with 404, because none exists here.
      const response = await fetch(url + path.replaceAll(/\{[^}]+\}/g, '1'), { headers, redirect: 'manual' });
      await response.text();
      if (response.status >= 500) failures.push(`GET ${path}: ${response.status}`);
    }
  }
}
