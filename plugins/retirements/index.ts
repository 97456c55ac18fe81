import type { GatewayPlugin } from '#core/extension/plugin.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import { readModelNotes, readRouteNotes } from './notes.ts';
import { retirementsPage } from './page.ts';
import { retirementProblems } from './problems.ts';
import { readLists } from './read-lists.ts';
import { retirements } from './resource.ts';
import { retirementsSection } from './section.ts';

const listJob: JobDefinition = {
  name: 'read-model-lists',
  description: "Reads vendors' lists of models and the days on which models end.",
  schedule: { pattern: '41 4 * * *' },
  attempts: 1,
  run: (_data, host) => readLists(host),
};

/** Warns before a vendor retires a model, and suggests a successor. Never changes routes. */
export const plugin: GatewayPlugin = {
  name: 'retirements',
  register({ gateway }) {
    gateway.section(retirementsSection);
    gateway.tables({ name: 'retirement', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(listJob);
    gateway.problem(retirementProblems);
    gateway.routeNotes(readRouteNotes);
    gateway.modelNotes(readModelNotes);
    gateway.page(retirementsPage);
    gateway.resource(retirements, { description: 'list routes whose model the vendor retires' });
  },
};
