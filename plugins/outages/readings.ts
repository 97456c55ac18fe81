import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { findAffectedAccounts, parseOutage } from './grant.ts';

export const affectedReading: OperatorReading = {
  path: '/outage',
  summary: 'list the accounts that had paid time during a span, or used a model then',
  query: {
    since: 'Start of the span, RFC 3339 with the zone. Required.',
    until: 'End of the span. Required.',
    model: 'Only accounts that requested this model.',
  },
  async read(host, _handle, query) {
    const [since, until] = [query.get('since') ?? '', query.get('until') ?? ''];
    const outage = await parseOutage(host, { since, until, model: query.get('model') ?? undefined });
    return { accounts: await findAffectedAccounts(host.database, outage) };
  },
};
