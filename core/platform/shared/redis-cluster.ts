import { randomUUID } from 'node:crypto';
import { type Cluster, Command, type Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { Circuit } from './circuit.ts';
import { clusterSlots, nodeName, replaceConnection, type ScriptedRedis } from './redis-client.ts';
import { answerTimeout, firstEvent, RedisNode, type RedisNodes } from './redis-nodes.ts';

/** Ms between two looks, of one instance, for the nodes that took the place of those that do not answer. */
const refreshInterval = 500;

/**
 * The primaries of a Redis Cluster. While one is away, until a replica takes its place, only its keys are without shared state: each
 * has a circuit.
 */
export class ClusterRedis implements RedisNodes {
  readonly #client: Cluster & ScriptedRedis;
  readonly #instance = randomUUID();
  readonly #log: Logger;
  readonly #onClose: () => void;
  /** By name. */
  readonly #nodes = new Map<string, RedisNode>();
  /** A key on each node, the same for all instances. */
  readonly #heartbeatKeys = new Map<string, string>();
  /** For keys whose node is not known, as before the first answer: open for as long as there are any. */
  readonly #unknown: Circuit;
  readonly #refreshes = new Throttle(refreshInterval);

  constructor(client: Cluster & ScriptedRedis, log: Logger, onClose: () => void) {
    this.#client = client;
    this.#log = log;
    this.#onClose = onClose;
    this.#unknown = new Circuit({
      name: 'Redis Cluster',
      probe: () => this.#findAllSlots(),
      replaceConnection: () => undefined,
      onClose,
      log,
    });
    client.on('refresh', () => this.#update());
    // Its cause is what the last node said that was asked.
    client.on('error', (error: Error & { lastNodeError?: Error }) => this.#unknown.open(error.lastNodeError ?? error));
    client.on('-node', (node: Redis) => {
      this.#nodes.get(nodeName(node))?.circuit.open(new Error('connection closed'));
    });
  }

  circuitOf(key: string): Circuit {
    const owner = this.#client.slots[slotOf(key)]?.[0];
    const node = owner === undefined ? undefined : this.#nodes.get(owner);
    return node?.circuit ?? this.#unknown;
  }

  get isOpen(): boolean {
    return this.#unknown.isOpen || this.#nodes.values().some(({ circuit }) => circuit.isOpen);
  }

  get count(): number {
    return Math.max(1, ...this.#nodes.values().map(({ instances }) => instances.count));
  }

  async start(): Promise<void> {
    if (this.#nodes.size === 0) await firstEvent(this.#client, 'refresh');
    const circuits = [this.#unknown, ...this.#nodes.values().map(({ circuit }) => circuit)];
    await Promise.all(circuits.map((circuit) => circuit.start(this.#nodes.size === 0 ? 0 : answerTimeout)));
  }

  async beat(): Promise<void> {
    this.#unknown.check();
    await Promise.all(this.#nodes.values().map((node) => node.beat()));
  }

  async leave(): Promise<void> {
    await Promise.all(this.#nodes.values().map((node) => node.leave()));
  }

  async publish(channel: string, message: string): Promise<unknown> {
    const command = new Command('publish', [channel, message], { replyEncoding: 'utf8' });
    return this.#client.sendCommand(command, undefined, { slot: slotOf(channel) });
  }

  [Symbol.dispose](): void {
    this.#unknown[Symbol.dispose]();
    for (const { circuit } of this.#nodes.values()) circuit[Symbol.dispose]();
    this.#client.disconnect();
  }

  /** After each look at the slots: circuits for new primaries, none for those that are no more. */
  #update(): void {
    const owners = new Set(this.#client.slots.flatMap((nodes) => nodes?.slice(0, 1) ?? []));
    for (const [name, { circuit }] of this.#nodes) {
      if (owners.has(name)) continue;
      this.#nodes.delete(name);
      circuit.open(new Error('connection closed'));
      circuit[Symbol.dispose]();
    }
    this.#heartbeatKeys.clear();
    for (let tag = 0; tag < clusterSlots && this.#heartbeatKeys.size < owners.size; tag++) {
      const owner = this.#client.slots[(heartbeatSlots[tag] ??= slotOf(heartbeatKey(tag)))]?.[0];
      if (owner !== undefined && !this.#heartbeatKeys.has(owner)) this.#heartbeatKeys.set(owner, heartbeatKey(tag));
    }
    for (const name of owners) if (!this.#nodes.has(name)) this.#add(name);
  }

  #add(name: string): void {
    const node = new RedisNode({
      client: this.#client,
      instance: this.#instance,
      key: () => {
        if (node.circuit.isOpen) this.#refresh();
        return this.#heartbeatKeys.get(name) ?? heartbeatKey(0);
      },
      name: `Redis Cluster node ${name}`,
      replaceConnection: () => {
        const connection = this.#client.nodes('master').find((one) => nodeName(one) === name);
        if (connection !== undefined) replaceConnection(connection);
      },
      onClose: this.#onClose,
      log: this.#log,
    });
    this.#nodes.set(name, node);
    // Closes with the first answer.
    node.circuit.open(new Error('not connected'));
  }

  #refresh(): void {
    if (this.#refreshes.pass()) this.#client.refreshSlotsCache();
  }

  async #findAllSlots(): Promise<void> {
    if (Object.keys(this.#client.slots).length === clusterSlots) return;
    this.#refresh();
    throw new Error('Redis Cluster: slots without a node');
  }
}

/** By tag, as far as they were needed. */
const heartbeatSlots: number[] = [];

function heartbeatKey(tag: number): string {
  return `gw:instances:{${tag}}`;
}

/** The hash slot of a key. */
export function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}
