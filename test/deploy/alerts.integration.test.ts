import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { checkRules, evaluateRules, failures, monitorJob, ruleTests } from './alert-cases.ts';
import { alertsFile, readAlerts } from './watching-fixture.ts';

const promtool = await promisify(execFile)('promtool', ['--version']).then(
  () => true,
  () => false,
);
if (!promtool)
  console.warn(
    'promtool is not on the PATH: the rules of alerts.yml are not evaluated; npm run kubernetes installs it',
  );

const tests = ruleTests(await monitorJob());

it('the cases have a failure for each alert', async () => {
  expect(Object.keys(failures).toSorted()).toEqual((await readAlerts()).map(({ alert }) => alert).toSorted());
});

describe.skipIf(!promtool)('the rules of alerts.yml', () => {
  const rules = fileURLToPath(alertsFile);

  it('are valid', async () => {
    await checkRules('promtool', rules);
  });

  it.each(Object.entries(tests))('%s', async (_title, own) => {
    await evaluateRules('promtool', rules, own);
  });
});
