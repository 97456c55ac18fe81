import { historyDays, type ReadCredits } from '#core/business/model-health/readings.ts';
import { cacheReading } from '#core/gateway/host/host.ts';
import { readCreditedMsByIncident } from './credit.ts';
import { outagesSection } from './section.ts';

const maxAgeMs = 30_000; // credits appear ten minutes after an incident anyway

const creditReading = cacheReading({ maxAgeMs, timeoutMs: 2_000, maxWaitMs: 1_000 }, ({ database, now }) =>
  readCreditedMsByIncident(database, now() - historyDays * 86_400_000),
);

export const readCredits: ReadCredits = async (host) =>
  host.section(outagesSection).credit ? creditReading(host).get() : new Map();
