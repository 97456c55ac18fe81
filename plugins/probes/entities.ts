import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';
import { checkNames } from './checks/check.ts';
import type { Samples } from './fingerprint.ts';

/**
 * One check of one route. The row is written before anything is sent, with the maximum tokens of the check, so that even a killed
 * process never spends more than is recorded. When the check is over, the row holds the tokens actually spent.
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
    /** A killed process may leave `running`. Inconclusive checks are `unknown`. */
    state: p.enum(['running', 'ok', 'failed', 'unknown'] as const),
    /** Reason for `failed` or `unknown`, as a text key. */
    reason: impersonal(p.text().nullable()),
    /** The vendor's message, truncated. */
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
