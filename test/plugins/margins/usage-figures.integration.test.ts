import { afterAll, beforeAll, expect, it } from 'vitest';
import { currencySection } from '#core/business/accounts/plans.ts';
import { models } from '#core/config/sections/models-section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Database } from '#core/platform/database/database.ts';
import { usageCommand } from '../../../plugins/log/commands/usage-command.ts';
import { exchangeRatesSection } from '../../../plugins/margins/exchange-rates.ts';
import { readUsageCosts } from '../../../plugins/margins/usage-costs.ts';
import { usageFigures } from '../../../plugins/margins/usage-figures.ts';
import { hour, RecordBook, today } from '../../core/gateway/records/record-fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { createCommandHost, runCommand } from '../log/commands/fixture.ts';

const now = today + 13 * hour;
const command = usageCommand({ costsReader: { pageCosts: readUsageCosts, usage: usageFigures } });

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await new RecordBook(database).write(
    { model: 'dp/gpt-6-sol', route: 'b/m', started_at: now, input_tokens: 1_000 },
    { model: null, started_at: now, outcome: 'refused' },
    { model: 'dp/other', started_at: now - hour, outcome: 'failed' },
  );
});
afterAll(() => database[Symbol.asyncDispose]());

it('daypass usage has cost, revenue and margin where costs are declared, exactly in JSON', async () => {
  const host = createCommandHost(database, now);
  const { section } = host;
  const costs = { b: { cost: { input: 0.075, tax: 11, currency: 'USD' } }, idle: { cost: { monthly: 31 } } };
  const declared = new Map<unknown, unknown>([
    [upstreams, costs],
    [currencySection, 'USD'],
    [exchangeRatesSection, {}],
    [models, {}],
  ]);
  const priced = { ...host, section: ((one: never) => declared.get(one) ?? section(one)) as typeof section };
  const { output } = await runCommand(command, priced, ['--by', 'route', '--since', '1h', '--json']);
  const { usage, taxes } = JSON.parse(output) as { usage: object[]; taxes: object[] };
  expect(usage).toContainEqual(
    expect.objectContaining({
      route: 'b/m',
      requests: 1,
      cost: '0.00008325',
      earned: '0',
      margin: '-0.00008325',
      currency: 'USD',
    }),
  );
  expect(usage).toContainEqual(expect.objectContaining({ route: 'idle', requests: 0 }));
  expect(taxes).toEqual([{ percent: 11, of: ['b'] }]);
  const table = (await runCommand(command, priced, ['--by', 'plan', '--since', '30d'])).output;
  expect(table).toMatch(/^plan +requests .* earned +cost +margin$/m);
  expect(table).toMatch(/^\(no plan\) +3 /m);
  expect(table).toContain('at the prices in gateway.yaml today, with tax on top (11 % of b); earned');
  expect((await runCommand(command, host, ['--by', 'plan', '--since', '30d'])).output).not.toContain('cost');
});
