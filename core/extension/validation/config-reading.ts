import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Registry } from '../registry.ts';
import { getConfigLoadState } from './load-state.ts';

/** Creates `GET /operator/api/configuration`, which returns the configuration in effect and the variant on trial, if any. */
export const configurationReading = (registry: Pick<Registry, 'variantSource'>): OperatorReading => ({
  path: '/configuration',
  summary: 'read the configuration in effect, and the one on trial for some of the accounts, with counts for both',
  async read(host) {
    const { loadedAt, refusal, rollback } = getConfigLoadState(host);
    const { variantSource } = registry;
    const variantMember = (value: unknown) => (variantSource === undefined ? {} : { [variantSource.name]: value });
    return {
      loadedAt: new Date(loadedAt),
      refused: refusal === undefined ? null : { at: new Date(refusal.refusedAt), reason: refusal.reason },
      inPlaceOfFile:
        rollback === undefined
          ? null
          : {
              configuration: rollback.configurationId,
              ...variantMember(rollback.variant ?? null),
              operator: rollback.operator,
              note: rollback.note ?? null,
              since: rollback.createdAt,
            },
      ...variantMember((await (await variantSource?.load())?.read(host)) ?? null),
    };
  },
});
