import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { gaugeBy } from '#core/gateway/health/gauge.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { getLimitSamples, type ReportedLimits } from '#core/gateway/model-call/reported-limits.ts';
import { balancesPage } from './page.ts';
import { balanceProblems } from './problems.ts';
import { balances } from './resource.ts';
import { balancesSection } from './section.ts';
import { balanceNotes, findFewestDays, getRecentBalances, renewBalances } from './state.ts';

const intervalSeconds = 3_600;

const readJob: JobDefinition = {
  name: 'read-balances',
  description: 'Reads the remaining balances of API keys from vendors that report them.',
  schedule: { every: intervalSeconds },
  attempts: 1,
  run: (_data, host) => renewBalances(host),
};

const daysGauge = gaugeBy(
  ['upstream'],
  'upstream_balance_days',
  "Days that an upstream's balance will last at last week's usage, the fewest if it has several accounts; missing if unknown.",
  async (host) => findFewestDays(await getRecentBalances(host)),
);

function describeLimits({ upstream, reportedAt, requests, tokens }: ReportedLimits) {
  return { upstream, at: new Date(reportedAt).toISOString(), requests: requests ?? null, tokens: tokens ?? null };
}

/** Remaining balances at vendors, as they report them or as stated in gateway.yaml, and how long they will last. */
export const plugin: GatewayPlugin = {
  name: 'balances',
  register({ gateway }) {
    gateway.section(balancesSection);
    gateway.tables({ name: 'balance', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(readJob);
    gateway.problem(balanceProblems);
    gateway.routeNotes(balanceNotes);
    gateway.gauge(daysGauge);
    gateway.statusReport({
      name: 'vendor_limits',
      report: (host) => getLimitSamples(host).latest(host).map(describeLimits),
    });
    gateway.page(balancesPage);
    gateway.resource(balances, { description: 'list remaining balances at vendors' });
  },
};
