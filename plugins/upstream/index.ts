import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createRoutesReport } from '#core/gateway/model-call/route-status.ts';
import { capacityGauges } from './capacity/gauges.ts';
import { keyDiagnosis, upstreamDiagnosis } from './diagnosis.ts';
import { resetRouteAction, resetRoutePage } from './health/reset.ts';
import { routesCommand } from './health/routes-command.ts';
import { routesResource } from './health/routes-resource.ts';
import { otherModelProblem } from './other-models.ts';
import { routeGauges, readRouteStatuses } from './routes.ts';
import { upstreamStage } from './stage.ts';
import { toolDiagnosis } from './tool-diagnosis.ts';
import { vendors } from './vendors.ts';

export const plugin: GatewayPlugin = {
  name: 'upstream',
  register(server) {
    const routes = routesResource(server.gateway);
    server.gateway.resource(routes);
    server.gateway.command(routesCommand(routes));
    server.gateway.action(resetRouteAction);
    server.gateway.page(resetRoutePage(server.gateway));
    server.gateway.stage(upstreamStage);
    server.gateway.problem(otherModelProblem);
    server.gateway.statusReport(createRoutesReport(readRouteStatuses));
    server.gateway.diagnosis(upstreamDiagnosis);
    server.gateway.diagnosis(keyDiagnosis);
    server.gateway.diagnosis(toolDiagnosis);
    for (const gauge of [...routeGauges, ...capacityGauges]) server.gateway.gauge(gauge);
    for (const vendor of vendors) server.gateway.vendor(vendor);
  },
};
