import type { Server } from '@hapi/hapi';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { GatewayDocument } from '#core/config/file/document.ts';
import { ConfigError, type Mistake } from '#core/config/file/mistake.ts';
import type { YamlPath } from '#core/config/section.ts';
import { explainFailure } from '#core/extension/import-plugin.ts';
import { Keeper } from '#core/extension/keeper.ts';
import { type ConfiguredHook, hookTimeoutMs, type Registry } from '#core/extension/registry.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import { createHost, type Host } from '#core/gateway/host/host.ts';
import { buildPipeline, type ConfiguredStage } from '#core/gateway/pipeline/build.ts';
import type { Logger } from '#core/platform/logger.ts';
import { unlimitedMemory } from '#core/platform/memory/budget.ts';
import { MemoryShared } from '#core/platform/shared/memory.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { routePages } from '#core/web/serve.ts';

interface DryStartParts {
  readonly document: GatewayDocument;
  readonly config: Config;
  readonly registry: Registry;
  readonly server: Server;
  readonly catalog: Catalog;
  readonly log: Logger;
  useHost(host: Host): void;
}

/** Thrown if a plugin uses a host member that only a running gateway has. The message is the member's name. */
class NotOpen extends Error {
  override readonly name = 'NotOpen';
}

const unavailableMembers: ReadonlySet<string | symbol> = new Set<keyof Host>(['database', 'dataFolder']);

/**
 * Runs the startup code of third-party plugins without a database and without listening: creates their stages, runs their `onConfigured`
 * hooks, and adds all routes to the server. The built-in plugins need no dry start, because they have tests.
 *
 * @returns notes about code that could not be checked because it uses the database
 * @throws ConfigError with the mistakes that would prevent a start, each located at its plugin or stage in the file
 */
export async function dryStart({
  document,
  config,
  registry,
  server,
  catalog,
  log,
  useHost,
}: DryStartParts): Promise<string[]> {
  const mistakes: Mistake[] = [];
  const notes: string[] = [];
  const createMistake = (path: YamlPath, wrong: string) => ({
    ...document.createMistake(path, wrong, 'fix the plugin'),
    isTransient: true,
  });
  await using keeper = new Keeper();
  const host = createDryHost(config, catalog, keeper, document.isProduction, log);
  useHost(host);
  for (const { definition, options, path } of config.stages) {
    if (!registry.foreignStages.has(definition.name)) continue;
    const stageName = `the stage ${definition.name}`;
    const failure = await catchFailure(() => tryStage({ definition, options }, host));
    if (failure instanceof NotOpen) notes.push(describeUnchecked(stageName, failure));
    else if (failure !== undefined) mistakes.push(createMistake(path, `cannot be created: ${explainFailure(failure)}`));
  }
  const foreignPluginNames = [...registry.foreignPlugins.keys()];
  for (const { plugin, hook } of registry.configuredHooks) {
    const failure = await catchFailure(() => runHook(hook, server, host));
    const index = foreignPluginNames.indexOf(plugin);
    // Hooks of built-in plugins may fail here because they use the database. Their mistakes are found by the rules of their sections.
    if (index === -1 || failure === undefined) continue;
    if (failure instanceof NotOpen) notes.push(describeUnchecked(`onConfigured of the plugin ${plugin}`, failure));
    else mistakes.push(createMistake(['plugins', index], `fails in onConfigured: ${explainFailure(failure)}`));
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  await routePages(server, registry, () => host);
  return notes;
}

async function tryStage(stage: ConfiguredStage, host: Host): Promise<void> {
  const pipeline = await buildPipeline([stage], host);
  await pipeline.retire();
}

async function runHook(hook: ConfiguredHook, server: Server, host: Host): Promise<void> {
  await withDeadline(
    Promise.resolve(hook(server, host)),
    hookTimeoutMs,
    `has not finished after ${hookTimeoutMs / 1000} s`,
  );
}

function describeUnchecked(subject: string, { message }: NotOpen): string {
  return `${subject} was checked only up to where it uses ${message}, which only a running gateway has`;
}

/** Returns the root cause of a failure, or the NotOpen in its chain of causes. */
async function catchFailure(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    let root: unknown = error;
    while (!(root instanceof NotOpen) && root instanceof Error && root.cause instanceof Error) root = root.cause;
    return root;
  }
}

const getMonotonicMs = () => performance.now();

function createDryHost(config: Config, catalog: Catalog, keeper: Keeper, isProduction: boolean, log: Logger): Host {
  const host = createHost(
    {
      instance: 'check',
      dataFolder: '',
      isProduction,
      log,
      database: undefined as never,
      shared: new MemoryShared(getMonotonicMs),
      jobs: {
        backend: 'postgres',
        add: async () => undefined,
        state: async () => ({ waiting: 0, running: 0, oldestWaitMs: 0, failed: [] }),
        schedules: { lateSince: new Map(), rescheduleCount: 0 },
        [Symbol.asyncDispose]: async () => undefined,
      },
      events: { publish: async () => undefined },
      memory: unlimitedMemory,
      now: () => Date.now(),
      monotonic: getMonotonicMs,
      keep: (key, create) => keeper.keep(key, create),
    },
    config,
    catalog,
    config.stages,
  );
  return new Proxy(host, {
    get(target, member, receiver) {
      if (unavailableMembers.has(member)) throw new NotOpen(`host.${String(member)}`);
      return Reflect.get(target, member, receiver);
    },
  });
}
