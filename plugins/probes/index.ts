import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readCheckups } from './checkups.ts';
import { createProbeCommand } from './command.ts';
import { createProbeJobs } from './jobs.ts';
import { probesPage, probedRoutePage } from './pages.ts';
import { probes } from './resource.ts';
import { probesSection } from './section.ts';
import { probeGauges, probesCheck } from './state.ts';

/** Tests, on a schedule and on demand, whether routes have the capabilities that they declare. Off by default. */
export const plugin: GatewayPlugin = {
  name: 'probes',
  register({ gateway }) {
    gateway.section(probesSection);
    gateway.tables({ name: 'probes', entities: async () => Object.values(await import('./entities.ts')) });
    for (const job of createProbeJobs(gateway)) gateway.job(job);
    gateway.checkups(readCheckups);
    gateway.healthCheck(probesCheck);
    for (const gauge of probeGauges) gateway.gauge(gauge);
    gateway.page(probesPage);
    gateway.page(probedRoutePage);
    gateway.resource(probes);
    gateway.command(createProbeCommand(gateway));
  },
};
