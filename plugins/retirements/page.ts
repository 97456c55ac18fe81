import { tablesPage } from '#core/web/actions/tables-page.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { retirements, retirementsPath } from './resource.ts';
import { readRetirements } from './retirements.ts';

const maxListed = 200;

/** `/operator/retirements`: routes whose vendors retire their models, and suggested successors. */
export const retirementsPage = tablesPage({
  path: retirementsPath,
  title: 'retirements.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['retirements.none', 'retirements.none_text'],
  async read(request) {
    const entries = (await readRetirements(request.host)).slice(0, maxListed);
    return {
      lead: request.t('retirements.lead'),
      sections: [fieldTable(request, 'retirements', 'retirements.title', entries, retirements.view.page)],
    };
  },
});
