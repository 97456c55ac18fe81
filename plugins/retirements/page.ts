import { tablesPage } from '#core/web/actions/tables-page.ts';
import { retirements, retirementsPath } from './resource.ts';

export const retirementsPage = tablesPage({
  path: retirementsPath,
  title: 'retirements.title',
  back: { path: '/operator/health', label: 'operator.health' },
  none: ['retirements.none', 'retirements.none_text'],
  lead: 'retirements.lead',
  resource: retirements,
});
