import { historyDays, type ReadCredits } from '#core/business/model-health/readings.ts';
import { perCatalog } from '#core/gateway/host/host.ts';
import { FreshValue } from '#core/platform/timing/fresh-value.ts';
import { creditedIncidents } from './credit.ts';
import { outagesSection } from './section.ts';

/** Ms for which it is used: credits come ten minutes after an incident. */
const creditAge = 30_000;

const creditReading = perCatalog(
  (host) =>
    new FreshValue({
      maxAge: creditAge,
      deadline: 2_000,
      patience: 1_000,
      now: () => host.monotonic(),
      read: () => creditedIncidents(host.database, host.now() - historyDays * 86_400_000),
    }),
);

/** Credits for the status page. */
export const readCredits: ReadCredits = async (host) =>
  host.section(outagesSection).credit ? creditReading(host).get() : new Map();
