import type { Server as HttpServer } from 'node:http';
import type { Server } from '@hapi/hapi';
import { accountMails } from '#core/business/accounts/account-mails.ts';
import { mailRetentionJob } from '#core/business/mail/jobs.ts';
import { coreActions } from '#core/business/operator-actions/actions.ts';
import { orderMails } from '#core/business/payments/order-mails.ts';
import type { GatewayDocument } from '#core/config/file/document.ts';
import { coreSections } from '#core/config/sections/core-sections.ts';
import { catalogSections } from '#core/config/sections/models-section.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { operatorsSection } from '#core/config/sections/operators-section.ts';
import { workersSection } from '#core/config/sections/workers-section.ts';
import { diskCheck, diskGauge } from '#core/gateway/health/disk-check.ts';
import { jobGauges } from '#core/gateway/health/job-gauges.ts';
import {
  eventsCheck,
  jobsCheck,
  rescheduledGauge,
  backgroundGauge,
  lostOutputGauge,
  namesCheck,
  memoryCheck,
  memoryGauges,
} from '#core/gateway/health/process-checks.ts';
import { processGauges } from '#core/gateway/health/process-gauges.ts';
import { replicaCheck, replicaGauge, replicaReport } from '#core/gateway/health/replica-health.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { ConnectionLimit } from '#core/gateway/http/connection-limit.ts';
import type { Upgrades } from '#core/gateway/http/upgrades.ts';
import type { Logger } from '#core/platform/logger.ts';
import { createCheckProblems } from '#core/web/problems/check-problems.ts';
import { failedJobsProblem, missingBackupsProblem } from '#core/web/problems/machine-problems.ts';
import { createBreakerProblems, createModelProblems } from '#core/web/problems/model-problems.ts';
import { actions } from '#core/web/resources/action-table.ts';
import { configurations } from '#core/web/resources/configurations.ts';
import { registerOwnPages } from '#core/web/serve.ts';
import { addSessionStrategy } from '#core/web/sessions/sign-in.ts';
import { PluginMissing } from './import-plugin.ts';
import type { GatewayPlugin } from './plugin.ts';
import { registerForeignPlugin, registerOwnPlugins } from './register-plugins.ts';
import { Registry } from './registry.ts';
import { releaseAction, rollbackAction } from './validation/config-actions.ts';
import { configProblems } from './validation/config-problems.ts';
import { configurationReading } from './validation/config-reading.ts';
import { configGauges } from './validation/load-state.ts';

/** A hapi server with every plugin registered, and the filled registry. No services are open, and the server is not listening yet. */
export interface Assembly {
  readonly server: Server;
  readonly listener: HttpServer;
  readonly connections: ConnectionLimit;
  readonly upgrades: Upgrades;
  readonly registry: Registry;
}

/**
 * Registers core's sections, the built-in plugins and the plugins listed in gateway.yaml. A plugin that cannot be loaded is recorded in the
 * registry as a mistake, so that the rest of the file can still be validated.
 */
export async function assemble(
  document: GatewayDocument | undefined,
  log: Logger,
  host: () => Host,
): Promise<Assembly> {
  const registry = createRegistry();
  const { createServer } = await import('#core/gateway/http/server.ts');
  const { ConnectionLimit } = await import('#core/gateway/http/connection-limit.ts');
  const { server, listener, refusals, upgrades } = createServer(log);
  registry.gauge(refusals.gauge);
  const connections = new ConnectionLimit(refusals);
  connections.attach(listener);
  for (const gauge of connections.gauges) registry.gauge(gauge);
  registry.healthCheck(connections.healthCheck);
  server.decorate('server', 'gateway', registry as never);
  server.decorate('server', 'host', host as never);
  addSessionStrategy(server, host);
  await registerOwnPlugins(server);
  if (document !== undefined) await registerForeignPlugins(document, server, registry);
  return { server, listener, connections, upgrades, registry };
}

/**
 * Fills a registry for commands, which serve no requests. Creates a server only if gateway.yaml lists plugins, because plugins may use any
 * part of it. Loading hapi makes `daypass check` use a fifth more CPU time.
 */
export async function assembleForCommand(
  document: GatewayDocument | undefined,
  log: Logger,
  host: () => Host,
): Promise<Pick<Assembly, 'registry'> & Partial<Pick<Assembly, 'server'>>> {
  if (document !== undefined && document.values()['plugins'] !== undefined) return assemble(document, log, host);
  const registry = createRegistry();
  const stubServer = {
    gateway: registry,
    host,
    route() {},
    ext() {},
    register: async (plugin: GatewayPlugin) => plugin.register(stubServer, undefined),
  } as unknown as Server;
  await registerOwnPlugins(stubServer);
  return { registry };
}

function createRegistry(): Registry {
  const registry = new Registry();
  for (const section of [...coreSections, workersSection, operatorSection, ...catalogSections, operatorsSection])
    registry.section(section);
  for (const action of [...coreActions, rollbackAction, releaseAction]) registry.action(action);
  for (const resource of [actions, configurations]) registry.resource(resource);
  registry.operatorReading(configurationReading(registry));
  registry.gauge(diskGauge);
  registry.healthCheck(diskCheck);
  registry.healthCheck(namesCheck);
  registry.healthCheck(replicaCheck);
  registry.gauge(replicaGauge);
  registry.statusReport(replicaReport);
  registry.gauge(rescheduledGauge);
  registry.healthCheck(jobsCheck);
  registry.healthCheck(eventsCheck);
  registry.gauge(backgroundGauge);
  registry.gauge(lostOutputGauge);
  for (const gauge of [...memoryGauges, ...processGauges, ...jobGauges, ...configGauges]) registry.gauge(gauge);
  registry.healthCheck(memoryCheck);
  for (const kind of [
    createCheckProblems(registry),
    createModelProblems(registry),
    createBreakerProblems(registry),
    ...configProblems,
  ])
    registry.problem(kind);
  for (const kind of [failedJobsProblem, missingBackupsProblem]) registry.problem(kind);
  registerOwnPages(registry);
  for (const kind of [...accountMails, ...orderMails]) registry.mail(kind);
  registry.job(mailRetentionJob);
  return registry;
}

/** Must run before validation, because the schema depends on the plugins. */
async function registerForeignPlugins(document: GatewayDocument, server: Server, registry: Registry): Promise<void> {
  registry.loadMistakes.push(...document.mistakes.filter(({ path: [section] }) => section === 'plugins'));
  const specifiers = document.values()['plugins'];
  for (const [index, specifier] of (Array.isArray(specifiers) ? specifiers : []).entries()) {
    const path = ['plugins', index];
    if (typeof specifier !== 'string' || document.hasUnfilledVariable(path)) continue;
    try {
      await registerForeignPlugin(server, specifier, document.file);
    } catch (error) {
      const mistake = document.createMistake(path, ...explainLoadError(error));
      // A plugin that exists may have failed only because something it needs is not available yet, so the next start may succeed.
      registry.loadMistakes.push({ ...mistake, isTransient: !(error instanceof PluginMissing) });
    }
  }
}

function explainLoadError(error: unknown): [wrong: string, right: string] {
  const wrong = `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
  return error instanceof PluginMissing
    ? [wrong, 'write a path that begins with ./ or the name of an installed package']
    : [wrong, 'fix the plugin, or remove it from the list'];
}
