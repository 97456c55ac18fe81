import { type ProblemKind, readEmphasis } from '#core/web/problems/problem.ts';
import { listDrafts, isPublic, getShopPages } from './shop-pages.ts';

const maxFiles = 10;

export const draftPages: ProblemKind = {
  name: 'draft_pages',
  order: 85,
  find({ host, t }) {
    const drafts = listDrafts(getShopPages(host));
    const [first] = drafts;
    if (first === undefined) return [];
    const files = [...drafts.slice(0, maxFiles), ...(drafts.length > maxFiles ? ['…'] : [])].join(', ');
    return [
      {
        severity: isPublic(host) ? 'warn' : 'info',
        title: t('shop_pages.problem'),
        pieces: readEmphasis(t('shop_pages.problem.text', { count: drafts.length, files })),
        step: { path: `/${first.split('.')[0]}`, text: t('shop_pages.problem.step') },
      },
    ];
  },
};
