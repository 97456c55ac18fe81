import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { readCheckups } from './checkups.ts';
import { createProbeCommand } from './command.ts';
import { createProbeJobs } from './jobs.ts';
import { probesPage, probedRoutePage } from './pages.ts';
import { probes } from './resource.ts';
import { probesSection } from './section.ts';
import { probeGauges, probesCheck } from './state.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Tests by schedule and on demand whether routes have the capabilities that they declare. Off by default. */
export const plugin: GatewayPlugin = {
  name: 'probes',
  register({ gateway }) {
    gateway.section(probesSection);
    gateway.tables({ name: 'probes', entities: async () => Object.values(await import('./entities.ts')) });
    for (const job of createProbeJobs(gateway)) gateway.job(job);
    gateway.checkups(readCheckups);
    gateway.healthCheck(probesCheck);
    for (const gauge of probeGauges) gateway.gauge(gauge);
    gateway.texts(defineTexts({ en, id }));
    gateway.page(probesPage);
    gateway.page(probedRoutePage);
    gateway.resource(probes);
    gateway.command(createProbeCommand(gateway));
  },
};
