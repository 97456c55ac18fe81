import { randomUUID } from 'node:crypto';
import { type Cluster, Command, type Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { Circuit } from './circuit.ts';
import { clusterSlots, formatNodeName, replaceConnection, type ScriptedRedis } from './redis-client.ts';
import { replyTimeoutMs, waitForEvent, RedisNode, type RedisNodes } from './redis-nodes.ts';

const refreshIntervalMs = 500;

/**
 * Primaries of a Redis Cluster. Each has its own circuit, so while a primary is down and not yet replaced by a replica, only its keys are
 * without shared state.
 */
export class ClusterRedis implements RedisNodes {
  readonly #client: Cluster & ScriptedRedis;
  readonly #instance = randomUUID();
  readonly #log: Logger;
  readonly #onClose: () => void;
  readonly #nodesByName = new Map<string, RedisNode>();
  readonly #heartbeatKeys = new Map<string, string>();
  /** For keys whose node is unknown, as before the first response. Open while any slot has no node. */
  readonly #fallbackCircuit: Circuit;
  readonly #refreshThrottle = new Throttle(refreshIntervalMs);

  constructor(client: Cluster & ScriptedRedis, log: Logger, onClose: () => void) {
    this.#client = client;
    this.#log = log;
    this.#onClose = onClose;
    this.#fallbackCircuit = new Circuit({
      name: 'Redis Cluster',
      probe: () => this.#findAllSlots(),
      replaceConnection: () => undefined,
      onClose,
      log,
    });
    client.on('refresh', () => this.#updateNodes());
    // The last node's error is the underlying cause.
    client.on('error', (error: Error & { lastNodeError?: Error }) =>
      this.#fallbackCircuit.open(error.lastNodeError ?? error),
    );
    client.on('-node', (node: Redis) => {
      this.#nodesByName.get(formatNodeName(node))?.circuit.open(new Error('connection closed'));
    });
  }

  circuitOf(key: string): Circuit {
    const owner = this.#client.slots[computeHashSlot(key)]?.[0];
    const node = owner === undefined ? undefined : this.#nodesByName.get(owner);
    return node?.circuit ?? this.#fallbackCircuit;
  }

  get isOpen(): boolean {
    return this.#fallbackCircuit.isOpen || this.#nodesByName.values().some(({ circuit }) => circuit.isOpen);
  }

  get instanceCount(): number {
    return Math.max(1, ...this.#nodesByName.values().map(({ instances }) => instances.count));
  }

  async start(): Promise<void> {
    if (this.#nodesByName.size === 0) await waitForEvent(this.#client, 'refresh');
    const circuits = [this.#fallbackCircuit, ...this.#nodesByName.values().map(({ circuit }) => circuit)];
    await Promise.all(circuits.map((circuit) => circuit.start(this.#nodesByName.size === 0 ? 0 : replyTimeoutMs)));
  }

  async sendHeartbeat(): Promise<void> {
    this.#fallbackCircuit.requireClosed();
    await Promise.all(this.#nodesByName.values().map((node) => node.sendHeartbeat()));
  }

  async unregister(): Promise<void> {
    await Promise.all(this.#nodesByName.values().map((node) => node.unregister()));
  }

  async publish(channel: string, message: string): Promise<unknown> {
    const command = new Command('publish', [channel, message], { replyEncoding: 'utf8' });
    return this.#client.sendCommand(command, undefined, { slot: computeHashSlot(channel) });
  }

  [Symbol.dispose](): void {
    this.#fallbackCircuit[Symbol.dispose]();
    for (const { circuit } of this.#nodesByName.values()) circuit[Symbol.dispose]();
    this.#client.disconnect();
  }

  #updateNodes(): void {
    const owners = new Set(this.#client.slots.flatMap((nodes) => nodes?.slice(0, 1) ?? []));
    for (const [name, { circuit }] of this.#nodesByName) {
      if (owners.has(name)) continue;
      this.#nodesByName.delete(name);
      circuit.open(new Error('connection closed'));
      circuit[Symbol.dispose]();
    }
    this.#heartbeatKeys.clear();
    for (let tag = 0; tag < clusterSlots && this.#heartbeatKeys.size < owners.size; tag++) {
      const owner = this.#client.slots[(heartbeatSlots[tag] ??= computeHashSlot(createHeartbeatKey(tag)))]?.[0];
      if (owner !== undefined && !this.#heartbeatKeys.has(owner))
        this.#heartbeatKeys.set(owner, createHeartbeatKey(tag));
    }
    for (const name of owners) if (!this.#nodesByName.has(name)) this.#addNode(name);
  }

  #addNode(name: string): void {
    const node = new RedisNode({
      client: this.#client,
      instance: this.#instance,
      key: () => {
        if (node.circuit.isOpen) this.#refresh();
        return this.#heartbeatKeys.get(name) ?? createHeartbeatKey(0);
      },
      name: `Redis Cluster node ${name}`,
      replaceConnection: () => {
        const connection = this.#client.nodes('master').find((candidate) => formatNodeName(candidate) === name);
        if (connection !== undefined) replaceConnection(connection);
      },
      onClose: this.#onClose,
      log: this.#log,
    });
    this.#nodesByName.set(name, node);
    // The first response closes the circuit.
    node.circuit.open(new Error('not connected'));
  }

  #refresh(): void {
    if (this.#refreshThrottle.tryPass()) this.#client.refreshSlotsCache();
  }

  async #findAllSlots(): Promise<void> {
    if (Object.keys(this.#client.slots).length === clusterSlots) return;
    this.#refresh();
    throw new Error('Redis Cluster: slots without a node');
  }
}

const heartbeatSlots: number[] = []; // by tag

function createHeartbeatKey(tag: number): string {
  return `gw:instances:{${tag}}`;
}

export function computeHashSlot(key: string): number {
  return new Command('get', [key]).getSlot();
}
