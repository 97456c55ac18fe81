import { randomBytes } from 'node:crypto';
/**
 * `npm run cache`: whether conversations keep the prompt cache of their vendor on their way through the gateway. Plays conversations of 38
 * turns with tools from a client of each format on a vendor of each kind, which caches as it documents, and compares the cached share of
 * input with that of the vendor's own client without a gateway. Exits with 1 when anything misses its aim.
 *
 *     npm run cache -- --only messages,gemini       client and vendor; `*` for all
 */
import { parseArgs } from 'node:util';
import { copyDatabase, execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import { describeResults, playAll } from './results.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
await using stack = new AsyncDisposableStack();
const postgres = stack.use(await startPostgres());
const name = `daypass_cache_${randomBytes(6).toString('hex')}`;
await copyDatabase(postgres.url, postgres.templateDatabase, name);
stack.defer(() => execute(postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
const { lines, failures } = describeResults(await playAll(withDatabase(postgres.url, name), values.only));
console.log([...lines, '', ...failures].join('\n'));
process.exitCode = failures.length === 0 && lines.length > 0 ? 0 : 1;
