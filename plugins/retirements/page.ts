import type { Page } from '#core/web/pages/page.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { retirements, retirementsPath } from './resource.ts';
import { readRetirements } from './retirements.ts';

const listed = 200;

/** `/operator/retirements`: routes whose vendors retire their models, and what may follow. */
export const retirementsPage: Page = {
  path: retirementsPath,
  role: 'operator',
  title: 'retirements.title',
  within: '/operator/health',
  template: 'retirements/list.eta',
  styles: ['operator.css', 'tables.css'],
  async show(request) {
    const all = await readRetirements(request.host);
    return {
      table: fieldTable(request, 'retirements', 'retirements.title', all.slice(0, listed), retirements.view.page),
    };
  },
};
