import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { waitForFirst } from '../timing/deadline.ts';
import { Circuit } from './circuit.ts';
import { replaceConnection, type ScriptedRedis } from './redis-client.ts';
import { RedisInstances } from './redis-instances.ts';

const startTimeoutMs = 3_000;
/** Maximum wait for timely replies at startup, once connected. */
export const replyTimeoutMs = 1_000;

/** The servers behind a client: one Redis, or the primaries of a cluster. Each has its own circuit, because they can fail separately. */
export interface RedisNodes extends Disposable {
  circuitOf(key: string): Circuit;
  /** True while any server does not respond. */
  readonly isOpen: boolean;
  /** Last known number of instances that use these servers. */
  readonly instanceCount: number;
  /** Waits until all servers respond, for a few seconds at most. */
  start(): Promise<void>;
  /** Sends a heartbeat to each server. Throws SharedUnavailable if any does not respond. */
  sendHeartbeat(): Promise<void>;
  /** Removes this instance from the count, after its last heartbeat. */
  unregister(): Promise<void>;
  /** Publishes through the server that `circuitOf` uses for the channel. */
  publish(channel: string, message: string): Promise<unknown>;
}

interface RedisNodeOptions {
  readonly client: ScriptedRedis;
  readonly instance: string;
  readonly key: () => string;
  readonly name: string;
  readonly replaceConnection: () => void;
  readonly onClose: () => void;
  readonly log: Logger;
}

export class RedisNode {
  readonly circuit: Circuit;
  readonly instances: RedisInstances;

  constructor({ client, instance, key, ...circuit }: RedisNodeOptions) {
    this.instances = new RedisInstances(client, instance, key);
    this.circuit = new Circuit({ ...circuit, probe: () => this.instances.sendHeartbeat() });
  }

  async sendHeartbeat(): Promise<void> {
    await this.circuit.run(() => this.instances.sendHeartbeat());
  }

  async unregister(): Promise<void> {
    await this.circuit.run(() => this.instances.unregister()).catch(() => undefined);
  }
}

export class SingleRedis implements RedisNodes {
  readonly #client: Redis & ScriptedRedis;
  readonly #node: RedisNode;

  constructor(client: Redis & ScriptedRedis, log: Logger, onClose: () => void) {
    this.#client = client;
    this.#node = new RedisNode({
      client,
      instance: randomUUID(),
      key: () => 'gw:instances',
      name: 'Redis',
      replaceConnection: () => replaceConnection(client),
      onClose,
      log,
    });
    client.on('error', (error) => this.#node.circuit.open(error));
    client.on('close', () => this.#node.circuit.open(new Error('connection closed')));
  }

  circuitOf(): Circuit {
    return this.#node.circuit;
  }

  get isOpen(): boolean {
    return this.#node.circuit.isOpen;
  }

  get instanceCount(): number {
    return this.#node.instances.count;
  }

  async start(): Promise<void> {
    if (this.#client.status !== 'ready') await waitForEvent(this.#client, 'ready');
    await this.#node.circuit.start(this.#client.status === 'ready' ? replyTimeoutMs : 0);
  }

  sendHeartbeat(): Promise<void> {
    return this.#node.sendHeartbeat();
  }

  unregister(): Promise<void> {
    return this.#node.unregister();
  }

  publish(channel: string, message: string): Promise<unknown> {
    return this.#client.publish(channel, message);
  }

  [Symbol.dispose](): void {
    this.#node.circuit[Symbol.dispose]();
    this.#client.disconnect();
  }
}

/** Waits for the event, an error or a timeout. */
export async function waitForEvent(client: EventEmitter, event: 'ready' | 'refresh'): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  client.once(event, finish).once('error', finish);
  await waitForFirst([promise], startTimeoutMs);
  client.off(event, finish).off('error', finish);
}
