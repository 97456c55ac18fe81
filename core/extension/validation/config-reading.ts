import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import type { Registry } from '../registry.ts';
import { configLoadState } from './load-state.ts';

/** `GET /operator/api/configuration`: gateway.yaml or the rollback target, and the variant on trial. */
export const configurationReading = (gateway: Pick<Registry, 'variantSource'>): OperatorReading => ({
  path: '/configuration',
  summary: 'read what serves, and what is tried beside it on a share of the accounts, with the counts of both sides',
  async read(host) {
    const { loadedAt, refusal, rollback } = configLoadState(host);
    const { variantSource } = gateway;
    const beside = (member: unknown) => (variantSource === undefined ? {} : { [variantSource.name]: member });
    return {
      loadedAt: new Date(loadedAt),
      refused: refusal === undefined ? null : { at: new Date(refusal.at), reason: refusal.reason },
      inPlaceOfFile:
        rollback === undefined
          ? null
          : {
              configuration: rollback.configurationId,
              ...beside(rollback.variant ?? null),
              operator: rollback.operator,
              note: rollback.note ?? null,
              since: rollback.createdAt,
            },
      ...beside((await (await variantSource?.load())?.read(host)) ?? null),
    };
  },
});
