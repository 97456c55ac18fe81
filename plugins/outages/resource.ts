import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { type ConfirmedOutage, type CreditPreview, isWaiting, listOutages, previewCredit } from './credit.ts';
import { listWitnesses, type OutageWitness } from './evidence.ts';

const maxWitnesses = 100;

interface ListedOutage extends ConfirmedOutage {
  readonly preview?: CreditPreview; // only while the outage is waiting
  readonly witnesses?: readonly OutageWitness[];
}

export function formatMinutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`;
}

export const outages = defineResource({
  name: 'outage',
  summary:
    'list outages, newest first, with the accounts whose requests failed and, while an outage waits, a preview of its credit',
  query: object({ after: createAfterSchema('outage') }),
  view: defineView<ListedOutage>()({
    outage: { type: 'id', of: 'id' },
    model: { type: 'text', of: 'model' },
    from: { type: 'time', of: 'from' },
    lasted: { type: 'text', value: ({ from, until }) => formatMinutes(+until - +from) },
    state: { type: 'text', value: describeState },
  }),
  async list(host, { after }, { limit }) {
    const describe = async (outage: ConfirmedOutage): Promise<ListedOutage> =>
      isWaiting(outage)
        ? {
            ...outage,
            preview: await previewCredit(host, outage),
            witnesses: await listWitnesses(host.database, outage, maxWitnesses),
          }
        : outage;
    const { entries, next } = await readPage(limit, (maxEntries) =>
      listOutages(host.database, maxEntries, 'all', after),
    );
    return { entries: await Promise.all(entries.map(describe)), next };
  },
});

function describeState({ preview, isConfirmed, creditedAt }: ListedOutage): string {
  if (preview === undefined) return creditedAt === undefined ? 'declined' : 'given back';
  const suffix = isConfirmed ? '' : ', not confirmed';
  return `${preview.accounts} accounts would get ${formatMinutes(preview.seconds * 1_000)}${suffix}`;
}
