import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { isWaiting, listOutages, previewCredit } from './credit.ts';
import { listWitnesses } from './evidence.ts';
import { findAffected, readOutage } from './grant.ts';

/** Outages, and accounts whose requests failed in one, of one answer. */
const pageSize = 100;

export const outageReadings: readonly OperatorReading[] = [
  {
    path: '/outage',
    summary: 'list the accounts that had paid time in a span, or used a model in it',
    query: {
      since: 'Beginning of the span, RFC 3339 with the zone. Required.',
      until: 'End of the span. Required.',
      model: 'Only accounts that requested this model.',
    },
    async read(host, _handle, query) {
      const [since, until] = [query.get('since') ?? '', query.get('until') ?? ''];
      const outage = await readOutage(host, { since, until, model: query.get('model') ?? undefined });
      return { accounts: await findAffected(host.database, outage) };
    },
  },
  {
    path: '/outages',
    summary:
      'list outages, the newest first, with what those would give that are neither given back nor declined, and the accounts whose requests failed in them',
    query: {},
    async read(host) {
      const outages = await listOutages(host.database, pageSize);
      const describe = async (outage: (typeof outages)[number]) =>
        isWaiting(outage)
          ? {
              ...outage,
              preview: await previewCredit(host, outage),
              witnesses: await listWitnesses(host.database, outage, pageSize),
            }
          : outage;
      return { outages: await Promise.all(outages.map(describe)) };
    },
  },
];
