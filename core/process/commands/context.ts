import { dirname, resolve } from 'node:path';
import type { Server } from '@hapi/hapi';
import { assembleForCommand } from '#core/extension/assembly.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import type { CommandContext } from '#core/extension/commands/command.ts';
import { type GatewayDocument, readDocument } from '#core/config/file/document.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { data } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { Registry } from '#core/extension/registry.ts';

/** The context of core's own commands. */
export interface CoreCommandContext extends CommandContext {
  readonly log: Logger;
  /** Path of gateway.yaml. */
  file(): string;
  /** Reads and validates gateway.yaml, plugins included. @throws ConfigError */
  load(): Promise<Loaded>;
}

/** A valid gateway.yaml, as a document and as a configuration. */
export interface Loaded {
  readonly document: GatewayDocument;
  readonly config: Config;
  readonly registry: Registry;
  /** A server with every plugin registered, present if gateway.yaml lists plugins; it does not listen. */
  readonly server: Server | undefined;
  /** Makes `server.host()` return this host; in commands it otherwise throws. */
  useHost(host: Host): void;
}

export function createContext(
  file: () => string,
  log: Logger,
  environment: NodeJS.ProcessEnv = process.env,
): CoreCommandContext {
  const load = async (): Promise<Loaded> => {
    const document = await readDocument(file(), environment);
    let current: Host | undefined;
    const { registry, server } = await assembleForCommand(document, log, () => {
      if (current === undefined) throw new Error('commands do not serve requests');
      return current;
    });
    const useHost = (host: Host) => {
      current = host;
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
      // Databases, queues and their libraries are loaded only by commands that use them.
      const [{ OpenServices }, { createHost }] = await Promise.all([
        import('../services.ts'),
        import('#core/gateway/host/host.ts'),
      ]);
      const dataFolder = resolve(dirname(file()), config.get(data).folder);
      await using open = await OpenServices.open({
        dataFolder,
        environment,
        log,
        registry,
        mode: 'command',
        host: () => host,
      });
      const catalog = buildCatalog(config, registry.vendors, registry.formats);
      const host = createHost(open.services, config, catalog, config.stages);
      return await work(host);
    },
  };
}
