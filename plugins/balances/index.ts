import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { gaugeBy } from '#core/gateway/health/gauge.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { getLimitSamples, type ReportedLimits } from '#core/gateway/model-call/reported-limits.ts';
import { balancesPage } from './page.ts';
import { balanceProblems } from './problems.ts';
import { balances } from './resource.ts';
import { balancesSection } from './section.ts';
import { balanceNotes, findLeastDays, getRecentBalances, renewBalances } from './state.ts';

/** Seconds between two readings of the balances. */
const intervalSeconds = 3_600;

const askJob: JobDefinition = {
  name: 'read-balances',
  description: 'Asks vendors what is left in the accounts of API keys, where they tell it.',
  schedule: { every: intervalSeconds },
  attempts: 1,
  run: (_data, host) => renewBalances(host),
};

const daysGauge = gaugeBy(
  ['upstream'],
  'upstream_balance_days',
  'Days that the account of an upstream lasts at the use of the last week, of several the shortest; left out where that is not known.',
  async (host) => findLeastDays(await getRecentBalances(host)),
);

/** Describes the limits for `/readyz?verbose`. */
function describeLimits({ upstream, reportedAt, requests, tokens }: ReportedLimits) {
  return { upstream, at: new Date(reportedAt).toISOString(), requests: requests ?? null, tokens: tokens ?? null };
}

/** Balances of the accounts at vendors, reported by them or given by the operator, and how long they last. */
export const plugin: GatewayPlugin = {
  name: 'balances',
  register({ gateway }) {
    gateway.section(balancesSection);
    gateway.tables({ name: 'balance', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(askJob);
    gateway.problem(balanceProblems);
    gateway.routeNotes(balanceNotes);
    gateway.gauge(daysGauge);
    gateway.statusReport({
      name: 'vendor_limits',
      report: (host) => getLimitSamples(host).latest(host).map(describeLimits),
    });
    gateway.page(balancesPage);
    gateway.resource(balances);
    gateway.command(resourceCommand(balances, { description: 'list what is left in the accounts at vendors' }));
  },
};
