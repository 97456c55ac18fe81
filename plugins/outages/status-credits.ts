import { historyDays, type ReadCredits } from '#core/business/model-health/readings.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import { creditedIncidents } from './credit.ts';
import { outagesSection } from './section.ts';

/** Ms of caching: credits follow an incident after ten minutes. */
const creditAge = 30_000;

const creditReading = cacheReading({ maxAgeMs: creditAge, timeoutMs: 2_000, maxWaitMs: 1_000 }, ({ database, now }) =>
  creditedIncidents(database, now() - historyDays * 86_400_000),
);

/** Credits for the status page. */
export const readCredits: ReadCredits = async (host) =>
  host.section(outagesSection).credit ? creditReading(host).get() : new Map();
