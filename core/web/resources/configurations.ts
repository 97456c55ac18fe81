import { isVariantName, listConfigurations, type StoredConfiguration } from '#core/config/history/history.ts';
import { object } from '#core/platform/schema.ts';
import { defineView } from './field.ts';
import { defineResource } from './resource.ts';

export const configurationsPath = '/operator/configuration';

export const configurations = defineResource({
  name: 'configuration',
  summary: 'list configurations that have been in effect, newest first',
  query: object({
    after: {
      type: 'string',
      pattern: '^[1-9]\\d{0,8}$',
      description: 'The number of the last configuration on the previous page.',
    },
  }),
  view: defineView<Pick<StoredConfiguration, 'id' | 'servedAt' | 'broughtBy'>>()({
    configuration: {
      type: 'id',
      heading: '',
      at: 'title',
      value: ({ id }) => String(id),
      cell: ({ id }, { t }) => ({
        text: t('operator.configuration_number', { number: id }),
        path: `${configurationsPath}/${id}`,
      }),
    },
    serves_since: { type: 'time', at: 'note', of: 'servedAt' },
    brought_by: {
      type: 'text',
      heading: 'from',
      fit: 'text',
      at: 'note-end',
      value: ({ broughtBy }) => describeFile(broughtBy) ?? `rolled back by ${broughtBy}`,
      cell: ({ broughtBy }, { t }) => describeFile(broughtBy) ?? t('operator.brought_back_by', { operator: broughtBy }),
    },
  }),
  none: 'No configuration has been in effect yet.',
  async list({ database }, { after }, { limit }) {
    const served = await listConfigurations(database, limit + 1, after === undefined ? undefined : Number(after));
    const entries = served.slice(0, limit).map(({ text: _text, ...entry }) => entry);
    return { entries, next: served.length > limit ? String(entries.at(-1)?.id) : null };
  },
});

function describeFile(broughtBy: string): string | undefined {
  if (broughtBy === 'file') return 'gateway.yaml';
  return isVariantName(broughtBy) ? broughtBy : undefined;
}
