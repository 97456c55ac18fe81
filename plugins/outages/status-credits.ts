import { historyDays, type ReadCredits } from '#core/business/model-health/readings.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import { readCreditedMs } from './credit.ts';
import { outagesSection } from './section.ts';

/** How long credits are cached. They appear ten minutes after an incident anyway. */
const maxAgeMs = 30_000;

const creditReading = cacheReading({ maxAgeMs, timeoutMs: 2_000, maxWaitMs: 1_000 }, ({ database, now }) =>
  readCreditedMs(database, now() - historyDays * 86_400_000),
);

/** Reads the credits that the status page shows. */
export const readCredits: ReadCredits = async (host) =>
  host.section(outagesSection).credit ? creditReading(host).get() : new Map();
