import { defineView } from '#core/web/resources/field.ts';
import { defineResource, takeFirst } from '#core/web/resources/resource.ts';
import { readRetirements, type Retirement } from './retirements.ts';

export const retirementsPath = '/operator/retirements';

export const retirements = defineResource({
  name: 'retirement',
  summary: 'list routes whose model the vendor retires, earliest end first',
  view: defineView<Retirement>('retirements')({
    route: { type: 'text', label: 'operator.route', fit: 'id', at: 'title', of: 'route' },
    state: {
      type: 'state',
      label: 'operator.state',
      at: 'end',
      texts: 'retirements.state',
      kinds: { ending: 'warn', ended: 'bad', missing: 'bad' },
      of: 'state',
    },
    ends: { type: 'text', at: 'note', isNamed: true, of: 'endsOn' },
    models: { type: 'text', fit: 'text', at: 'below', value: ({ models }) => models.join(', ') },
    lost: { type: 'text', fit: 'text', at: 'hide', value: ({ lost }) => lost.join(', ') },
    successor: { type: 'text', fit: 'id', at: 'hide', of: 'successor' },
  }),
  none: 'No vendor has announced the end of a model that a route uses.',
  perPage: Infinity,
  list: async (host, _query, { limit }) => takeFirst(await readRetirements(host), limit),
});
