import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAccount } from '#core/business/accounts/accounts.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { Logger } from '#core/platform/logger.ts';
import { Gateway } from '#core/process/app.ts';
import { createBareDatabase, dropDatabase, silentLog } from './database.ts';
import { createGatewayFolder, type GatewayHome, openGatewayHome } from './gateway-home.ts';

export type { GatewayHome, GatewayProcess } from './gateway-home.ts';

export interface GatewayOptions {
  readonly yaml: string; // without `listen` and `data`
  readonly environment?: Record<string, string>;
  readonly log?: Logger;
  readonly files?: Readonly<Record<string, string>>; // to write next to gateway.yaml, by name, such as plugins that it loads
}

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  readonly operatorUrl: string; // of the operator listener
  readonly key: string; // its period ends in a day
  readonly accountId: string;
  readonly database: Database;
  readonly folder: string; // temporary, with gateway.yaml and the data
  readonly file: string;
  /** Does not load the file. `listen` is the content of the section. */
  write(yaml: string, listen?: string): Promise<void>;
}

/** Every stage, with limits that no test reaches. */
export const wholePipeline = `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 10000 }
  - cache
  - format
  - upstream: { first_byte_timeout: 5, idle_timeout: 5, connect_timeout: 1 }
  - log
`;

export function yamlFor(baseUrl: string, formats = '[chat, responses, messages, images]'): string {
  return `${wholePipeline}
upstreams: { one: { format: ${formats}, base_url: "${baseUrl}" } }
models: { test: { routes: [one/model-there] } }
`;
}

/** The gateway is complete, and runs in this process on its own database and a free port. */
export async function startGateway({
  yaml,
  environment = {},
  log = silentLog,
  files = {},
}: GatewayOptions): Promise<TestGateway> {
  // A gateway that fails to start must leave neither folder nor database behind.
  await using made = new AsyncDisposableStack();
  const { folder, file, write } = await createGatewayFolder(yaml);
  made.defer(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const databaseUrl = await createBareDatabase();
  made.defer(() => dropDatabase(databaseUrl));
  const gateway = await Gateway.start({ file, environment: { DATABASE_URL: databaseUrl, ...environment }, log });
  made.defer(() => gateway.stop());
  const { database } = gateway.host;
  const { key, accountId } = await createAccount(database, 'dp', {
    name: 'Test',
    period: { days: 1, reason: 'grant', label: 'test' },
  });
  const resources = made.move();
  return {
    gateway,
    url: gateway.url,
    operatorUrl: gateway.operatorUrl ?? '',
    key,
    accountId,
    database,
    folder,
    file,
    write,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

export async function createGatewayHome(yaml: string): Promise<GatewayHome> {
  const databaseUrl = await createBareDatabase();
  const home = await openGatewayHome(databaseUrl, yaml);
  return {
    ...home,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await dropDatabase(databaseUrl);
    },
  };
}
