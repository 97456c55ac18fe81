import type { Plugin } from '@hapi/hapi';
import type { Host } from '../host.ts';
import type { Registry } from './registry.ts';

declare module '@hapi/hapi' {
  interface Server {
    /** Where a plugin registers stage types, sections, endpoints, jobs, vendors and commands. */
    readonly gateway: Registry;
    /** The host of the configuration that serves now; for the handlers of a plugin's own routes. Throws before start. */
    host(): Host;
  }
}

/**
 * A plugin is a hapi plugin. Its module exports it as `plugin`; `register` adds to `server.gateway` and, for pages of
 * its own, to `server.route`. Nothing else happens there: connections, timers and files belong into `create`.
 */
export type GatewayPlugin = Plugin<void>;
