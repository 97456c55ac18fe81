import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';
import { checkNames } from './checks/check.ts';
import type { Samples } from './fingerprint.ts';

/**
 * One check of one route. The row is written before anything is sent, with the maximum tokens that the check can use, so that even a killed
 * process spends no more than is recorded. After the check, the row has the tokens that were used.
 */
export const ProbeResult = defineEntity({
  name: 'ProbeResult',
  tableName: 'probes_result',
  properties: {
    id: p.uuid().primary(),
    route: impersonal(p.text()),
    upstream: impersonal(p.text()),
    checkName: p.enum(checkNames),
    startedAt: p.datetime(),
    /** `running` may also be left over from a process that was killed; `unknown` is inconclusive. */
    state: p.enum(['running', 'ok', 'failed', 'unknown'] as const),
    reason: impersonal(p.text().nullable()),
    detail: impersonal(p.text().nullable()),
    tokens: p.integer(),
    firstContentMs: p.integer().nullable(),
    tokensPerSecond: p.float().nullable(),
    /** Similarity of the answers to the baseline, 0 to 100. */
    score: p.float().nullable(),
    samples: impersonal(p.json<Samples>().nullable()),
    /** True if later samples of the route are compared with these. */
    isBaseline: p.boolean().default(false),
  },
  indexes: [
    { name: 'probes_result_of_route', properties: ['route', 'checkName', 'startedAt'] },
    { name: 'probes_result_of_upstream', properties: ['upstream', 'startedAt'] },
  ],
});
