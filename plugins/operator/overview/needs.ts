import type { PageRequest, PageReader, Page } from '#core/web/pages/page.ts';
import { findProblems } from '#core/web/problems/find-problems.ts';
import type { Problem, ProblemKinds } from '#core/web/problems/problem.ts';

export type NeedsSource = ProblemKinds & { readonly pages: readonly Page[] };

export async function describeNeeds(gateway: NeedsSource, request: PageRequest) {
  const { problems, total } = await findProblems(gateway, request);
  const hiddenCount = total - problems.length;
  return {
    needs: problems.map((problem) => describeNeed(problem, request, gateway.pages)),
    needsTotal: describeOpenCount(total, request),
    moreNeeds: hiddenCount > 0 ? request.t('operator.needs_more', { count: hiddenCount }) : '',
  };
}

/** Returns '' for 0, because the page has its own text for that. */
export function describeOpenCount(count: number, { t }: Pick<PageRequest, 't'>): string {
  return count === 0 ? '' : t('operator.needs_open', { count });
}

/** @param pages their titles label buttons that have no text of their own */
export function describeNeed(
  { severity, title, pieces, since, step }: Problem,
  { t, format, host }: PageReader,
  pages: readonly Page[] = [],
) {
  const text = step.text ?? t(pages.find(({ path }) => path === step.path)?.title ?? '');
  return {
    status: { kind: severity, text: title },
    pieces,
    since: since && format.relative(since, new Date(host.now())),
    step: { path: step.path, text, label: step.label ?? text },
  };
}
