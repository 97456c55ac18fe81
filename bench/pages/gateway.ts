/** The measured gateway, in a separate process on the seeded database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '#core/platform/logger.ts';
import { Gateway } from '#core/process/app.ts';
import { reportFigures } from '../process-figures.ts';
import { gatewayYaml } from './catalog.ts';

const folder = await mkdtemp(join(tmpdir(), 'daypass-bench-pages-'));
const file = join(folder, 'gateway.yaml');
// Routes lead nowhere, because no page calls them.
await writeFile(file, `listen: { port: 0, notice_period: 0 }\n${gatewayYaml('http://127.0.0.1:9')}`);
const gateway = await Gateway.start({
  file,
  environment: { DATABASE_URL: process.argv[2] },
  log: createLogger(),
});
process.once('SIGTERM', () => {
  void gateway
    .stop()
    .then(() => rm(folder, { recursive: true, force: true }))
    .finally(() => process.exit(0));
});
reportFigures({ port: Number(new URL(gateway.url).port), key: '', visitors: [] });
