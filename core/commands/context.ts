import { dirname, resolve } from 'node:path';
import { assemble } from '../assembly.ts';
import { buildCatalog } from '../catalog/build.ts';
import type { CommandContext } from '../extension/command.ts';
import { type GatewayDocument, readDocument } from '../config/document.ts';
import { type Config, validate } from '../config/load.ts';
import { data } from '../config/sections.ts';
import type { Host } from '../host.ts';
import type { Logger } from '../logger.ts';
import type { Registry } from '../extension/registry.ts';

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
}

export function createContext(file: () => string, log: Logger): CoreCommandContext {
  const load = async (): Promise<Loaded> => {
    const document = await readDocument(file(), process.env);
    const { registry } = await assemble(document, log, () => {
      throw new Error('commands do not serve requests');
    });
    return { document, config: validate(document, registry), registry };
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
      const [{ OpenServices }, { createHost }] = await Promise.all([import('../services.ts'), import('../host.ts')]);
      const dataFolder = resolve(dirname(file()), config.get(data).folder);
      await using open = await OpenServices.open({
        dataFolder,
        environment: process.env,
        log,
        registry,
        mode: 'command',
        host: () => host,
      });
      const host = createHost(open.services, config, buildCatalog(config, registry.vendors));
      return await work(host);
    },
  };
}
