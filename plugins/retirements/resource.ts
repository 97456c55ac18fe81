import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import type { Retirement } from './retirements.ts';

export const retirementsPath = '/operator/retirements';

/** Routes of models that their vendors retire. */
export const retirements = defineResource({
  name: 'retirement',
  summary: 'list routes whose vendor retires their model, the first end first',
  query: object({}),
  view: defineView<Retirement>()(
    {
      route: { type: 'text', fit: 'id', at: 'title', of: 'route' },
      state: {
        type: 'state',
        at: 'end',
        texts: 'retirements.state',
        kinds: { ending: 'warn', ended: 'bad', missing: 'bad' },
        of: 'state',
      },
      ends: { type: 'text', label: 'retirements.ends', at: 'note', isNamed: true, of: 'endsOn' },
      models: {
        type: 'text',
        label: 'retirements.models',
        fit: 'text',
        at: 'below',
        value: ({ models }) => models.join(', '),
      },
      lost: { type: 'text', label: 'retirements.lost', fit: 'text', at: 'hide', value: ({ lost }) => lost.join(', ') },
      successor: { type: 'text', label: 'retirements.successor', fit: 'id', at: 'hide', of: 'successor' },
    },
    ['route', 'state', 'ends', 'models', 'lost', 'successor'],
  ),
  none: 'No vendor has said that it retires a model of a route.',
  async list(host, _query, { limit }) {
    const { readRetirements } = await import('./retirements.ts');
    return { entries: (await readRetirements(host)).slice(0, limit) };
  },
});
