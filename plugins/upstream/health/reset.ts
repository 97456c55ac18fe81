import { defineAction, type SubjectKind } from '#core/business/operator-actions/action-kind.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import type { StatusReports } from '#core/gateway/health/status-report.ts';
import { resetRoute, listRouteIds } from '#core/gateway/model-call/route-reset.ts';
import { canReset, readRouteStatus } from '#core/gateway/model-call/route-status.ts';
import { object } from '#core/platform/schema.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { notFound, PageError } from '#core/web/pages/page-error.ts';

const routeSubject: SubjectKind = {
  name: 'route',
  async find(host, handle) {
    if (listRouteIds(host).includes(handle)) return { id: handle, recordedAt: handle };
    throw new CheckoutError('not_found', `Route "${handle}" not found.`);
  },
};

export const resetRouteAction = defineAction({
  name: 'route.reset',
  subject: routeSubject,
  summary: 'close the breaker of a route and end the cooldowns of its keys',
  input: object({}),
  perform: (host, route) => resetRoute(host, route),
});

export const resetRoutePage = (reports: StatusReports) =>
  plainPage(
    resetRouteAction,
    {
      path: '/operator/routes',
      find({ host }, { route = '' }) {
        const routesLink = { path: '/operator/routes', label: 'operator.routes' };
        if (!listRouteIds(host).includes(route)) notFound('operator.route_unknown', routesLink);
        if (!canReset(readRouteStatus(reports, host).get(route)))
          throw new PageError(409, 'operator.nothing_to_reset', { action: routesLink });
        return { id: route, name: route, path: routesLink.path };
      },
    },
    { title: 'operator.reset_title', sent: ['route'] },
  );
