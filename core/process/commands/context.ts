import { dirname, resolve } from 'node:path';
import type { Server } from '@hapi/hapi';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { data } from '#core/config/sections/core-sections.ts';
import { assembleForCommand } from '#core/extension/assembly.ts';
import type { CommandContext } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Logger } from '#core/platform/logger.ts';

export interface CoreCommandContext extends CommandContext {
  readonly log: Logger;
  file(): string; // path of gateway.yaml
  /**
   * Reads and validates gateway.yaml, including the sections of plugins.
   *
   * @throws ConfigError
   */
  load(): Promise<LoadedGateway>;
}

/** A valid gateway.yaml, and the plugins that it uses. */
export interface LoadedGateway {
  readonly document: GatewayDocument;
  readonly config: Config;
  readonly registry: Registry;
  /** Server with all plugins registered; it does not listen. Undefined if gateway.yaml lists no plugins. */
  readonly server: Server | undefined;
  /** Sets the host that `server.host()` returns; before that, it throws. */
  useHost(host: Host): void;
}

export function createContext(
  file: () => string,
  log: Logger,
  environment: NodeJS.ProcessEnv = process.env,
): CoreCommandContext {
  const load = async (): Promise<LoadedGateway> => {
    const document = await readDocument(file(), environment);
    let currentHost: Host | undefined;
    const { registry, server } = await assembleForCommand(document, log, () => {
      if (currentHost === undefined) throw new Error('commands do not serve requests');
      return currentHost;
    });
    const useHost = (host: Host) => {
      currentHost = host;
    };
    return { document, config: validate(document, registry), registry, server, useHost };
  };
  return {
    log,
    file,
    load,
    print: (line) => {
      process.stdout.write(`${line}\n`);
    },
    async withHost<T>(work: (host: Host) => Promise<T>): Promise<T> {
      const { config, registry } = await load();
      // Imported late, so that only commands that use databases and queues load those libraries.
      const [{ OpenServices }, { createHost }] = await Promise.all([
        import('../services.ts'),
        import('#core/gateway/host/host.ts'),
      ]);
      const dataFolder = resolve(dirname(file()), config.get(data).folder);
      await using services = await OpenServices.open({
        dataFolder,
        environment,
        log,
        registry,
        mode: 'command',
        host: () => host,
      });
      const catalog = buildCatalog(config, registry.vendors, registry.formats);
      const host = createHost(services.services, config, catalog, config.stages);
      return await explainErrors(work(host));
    },
  };
}
