import { Agent } from 'undici';
import { bounds } from '#core/bounds.ts';
import type { Route } from '#core/catalog/catalog.ts';
import { ConnectQueue } from './connect-queue.ts';
import { createConnector } from './connector.ts';

/**
 * The connection pools to upstreams. They outlive reloads: open connections are worth keeping, and exchanges in flight use
 * them.
 */
export class Connections implements AsyncDisposable {
  readonly #agents = new Map<number, Agent>();
  readonly #queues = new Map<string, ConnectQueue>();

  /** The attempts that wait for a connection to an origin. */
  queue(origin: string): ConnectQueue {
    const known = this.#queues.get(origin);
    if (known !== undefined) return known;
    const queue = new ConnectQueue();
    this.#queues.set(origin, queue);
    return queue;
  }

  /** @param connectTimeout seconds */
  agent(connectTimeout: number): Agent {
    const known = this.#agents.get(connectTimeout);
    if (known !== undefined) return known;
    const agent = new Agent({
      connect: createConnector(connectTimeout),
      // Each attempt has its own exact, configurable timeouts; undici's are coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: 60_000,
      maxHeaderSize: bounds.upstreamHead,
      pipelining: 1,
    });
    this.#agents.set(connectTimeout, agent);
    return agent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
}

export interface Target {
  readonly origin: string;
  /** Of the base URL, without a trailing slash: `/v1`. */
  readonly path: string;
}

const targets = new WeakMap<Route['upstream'], Target>();

/** Origin and path of an upstream's base URL, parsed once. */
export function targetOf({ upstream }: Route): Target {
  const known = targets.get(upstream);
  if (known !== undefined) return known;
  const { origin, pathname } = new URL(upstream.baseUrl);
  const target = { origin, path: pathname.replace(/\/$/, '') };
  targets.set(upstream, target);
  return target;
}
