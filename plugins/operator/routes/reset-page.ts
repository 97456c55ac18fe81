import { resetRoute, routeIdsOf } from '#core/gateway/model-call/route-reset.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import type { Page, PageRequest } from '#core/web/pages/page.ts';
import { actionPage } from '../action-page.ts';

/** `/operator/routes/reset?route=…`: closes the breaker of a route. */
export const resetPage: Page = actionPage({
  path: '/operator/routes/reset',
  title: 'operator.reset_title',
  action: 'route.reset',
  needsNote: false,
  ask(request) {
    const { t, query, form } = request;
    const route = requireRoute(request, query['route'] ?? form.values['route'] ?? '');
    return {
      question: t('operator.reset_question', { route }),
      text: t('operator.reset_text'),
      facts: [],
      label: t('operator.reset'),
      isDanger: false,
      back: '/operator/routes',
      note: undefined,
      route,
    };
  },
  subject: (request, { route }) => requireRoute(request, route),
  async perform({ host }, _input, route) {
    await resetRoute(host, route);
    return '/operator/routes';
  },
});

function requireRoute({ host }: PageRequest, route: string): string {
  if (routeIdsOf(host).includes(route)) return route;
  throw new PageError(404, 'operator.route_unknown', {
    action: { path: '/operator/routes', label: 'operator.routes' },
  });
}
