import type { Logger } from '#core/platform/logger.ts';
import type { Vendor } from '../catalog/catalog.ts';
import type { SectionValues } from '../section.ts';
import { upstreams } from './upstreams-section.ts';

/** Vendors' servers that run inside the gateway, such as the demo. Each is started when an upstream first uses it. */
export class VendorServers implements AsyncDisposable {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #log: Logger;
  readonly #servers = new Map<string, { readonly baseUrl: string } & AsyncDisposable>();

  constructor(vendors: ReadonlyMap<string, Vendor>, log: Logger) {
    this.#vendors = vendors;
    this.#log = log;
  }

  /**
   * Starts the servers that this configuration needs, and returns the vendors with their base URLs.
   *
   * @param undo stops the servers that this call has started
   */
  async startServers(config: SectionValues, undo: AsyncDisposableStack): Promise<ReadonlyMap<string, Vendor>> {
    const usedVendors = new Set(Object.values(config.get(upstreams)).map(({ vendor }) => vendor));
    const vendors = new Map(this.#vendors);
    for (const [name, vendor] of this.#vendors) {
      if (vendor.start === undefined || !usedVendors.has(name)) continue;
      let server = this.#servers.get(name);
      if (server === undefined) {
        server = await vendor.start({ log: this.#log });
        this.#servers.set(name, server);
        undo.defer(() => this.#stop(name));
      }
      vendors.set(name, { ...vendor, baseUrl: server.baseUrl });
    }
    return vendors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((name) => this.#stop(name)));
  }

  async #stop(name: string): Promise<void> {
    const server = this.#servers.get(name);
    this.#servers.delete(name);
    await server?.[Symbol.asyncDispose]();
  }
}
