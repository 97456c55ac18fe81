import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { afterEntry, defineResource, readPage } from '#core/web/resources/resource.ts';
import type { ConfirmedOutage, CreditPreview } from './credit.ts';
import type { OutageWitness } from './evidence.ts';

/** Maximum accounts per outage whose requests failed in it. */
const listedWitnesses = 100;

interface ListedOutage extends ConfirmedOutage {
  /** Preview of the credit while the outage waits. */
  readonly preview?: CreditPreview;
  readonly witnesses?: readonly OutageWitness[];
}

export function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`;
}

export const outages = defineResource({
  name: 'outage',
  summary:
    'list outages, the newest first, with what those would give that are neither given back nor declined, and the accounts whose requests failed in them',
  query: object({ after: afterEntry('outage') }),
  view: defineView<ListedOutage>()({
    outage: { type: 'id', of: 'id' },
    model: { type: 'text', of: 'model' },
    from: { type: 'time', of: 'from' },
    lasted: { type: 'text', value: ({ from, until }) => minutes(+until - +from) },
    state: { type: 'text', value: stateOf },
  }),
  async list(host, { after }, { limit }) {
    const [{ isWaiting, listOutages, previewCredit }, { listWitnesses }] = await Promise.all([
      import('./credit.ts'),
      import('./evidence.ts'),
    ]);
    const describe = async (outage: ConfirmedOutage): Promise<ListedOutage> =>
      isWaiting(outage)
        ? {
            ...outage,
            preview: await previewCredit(host, outage),
            witnesses: await listWitnesses(host.database, outage, listedWitnesses),
          }
        : outage;
    const { entries, next } = await readPage(limit, (most) => listOutages(host.database, most, 'all', after));
    return { entries: await Promise.all(entries.map(describe)), next };
  },
});

function stateOf({ preview, isConfirmed, creditedAt }: ListedOutage): string {
  if (preview === undefined) return creditedAt === undefined ? 'declined' : 'given back';
  const doubt = isConfirmed ? '' : ', not confirmed';
  return `${preview.accounts} accounts would get ${minutes(preview.seconds * 1_000)}${doubt}`;
}
