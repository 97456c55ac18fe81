import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Clock } from './clock.ts';
import type { Figures } from './figures.ts';

const shared = join(import.meta.dirname, '../../core/platform/shared');
const prelude = readFileSync(join(import.meta.dirname, 'virtual-time.lua'), 'utf8');

const costsUs = { script: 15, command: 3, receiver: 1, connection: 50 }; // `command`: any other; `receiver`: of a message
const retransmissionMs = 200; // TCP's shortest timeout

/** One direction of a connection. It preserves the order of what is sent, and a lost packet delays everything after it. */
export class Link {
  readonly #clock: Clock;
  readonly #loss: number;
  #lastArrival = 0;

  constructor(clock: Clock, loss: number) {
    this.#clock = clock;
    this.#loss = loss;
  }

  /** Takes at least 0.2 ms, as on a network within a data center, and waits for `ready`. */
  send(deliver: () => void, ready?: Promise<unknown>): void {
    const lost = Math.random() < this.#loss ? retransmissionMs : 0;
    const at = Math.max(this.#lastArrival, this.#clock.now + 0.2 - 0.1 * Math.log(1 - Math.random()) + lost);
    this.#lastArrival = at;
    this.#clock.after(at - this.#clock.now, deliver, { ready });
  }
}

export interface Peer {
  readonly inbound: Link;
  closed(): void;
  message(channel: string, text: string): void;
}

/** What a peer receives for a command once the real Redis has replied. */
interface Answer {
  readonly deliver: () => void;
  readonly ready?: Promise<unknown>;
}

interface ScriptClient extends Redis {
  [script: `sim${string}`]: (numberOfKeys: number, ...parameters: unknown[]) => Promise<unknown>;
}

/**
 * The simulation's Redis. Scripts and commands run on a real Redis, in the order in which they arrive here and with simulated time.
 * Connections, CPU time and publishing are simulated.
 */
export class SimulatedRedis implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #figures: Figures;
  readonly #real: ScriptClient;
  readonly #peers = new Set<Peer>();
  readonly #channels = new Map<string, Set<Peer>>();
  #busyUntilUs = 0; // on the simulated clock
  #state: 'up' | 'down' | 'stopped' = 'up';
  readonly #stalled: (() => void)[] = [];

  constructor(url: string, clock: Clock, figures: Figures) {
    this.#clock = clock;
    this.#figures = figures;
    this.#real = new Redis(url) as ScriptClient;
    this.#define('Command', 'return redis.call(unpack(ARGV))');
    for (const name of ['take', 'renew', 'heartbeat', 'extend', 'release', 'keep', 'recall'])
      this.#define(name, readFileSync(join(shared, `${name}.lua`), 'utf8'));
  }

  async ready(): Promise<void> {
    await this.#real.flushall();
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** @returns false if connections are refused */
  connect(peer: Peer, onReady: () => void): boolean {
    if (this.#state === 'down') return false;
    this.#peers.add(peer);
    this.#work(peer, costsUs.connection, () => {
      this.#figures.count('connections');
      return { deliver: onReady };
    });
    return true;
  }

  /** @param keys of a script; a plain command has its keys among the parameters */
  receive(peer: Peer, name: string, keys: readonly unknown[], parameters: readonly unknown[], reply: Reply): void {
    this.#work(peer, name === 'Command' ? costsUs.command : costsUs.script, () => {
      // Values are bytes; all other replies are texts and numbers.
      const script = `sim${name}${parameters[0] === 'GET' ? 'Buffer' : ''}` as const;
      const time = Math.round(Date.now() * 1000);
      const result = this.#real[script]?.(keys.length, ...keys, ...parameters, time) as Promise<unknown>;
      this.#figures.count(`redis ${name === 'Command' ? String(parameters[0]).toLowerCase() : `${name}.lua`}`);
      let settle: (() => void) | undefined;
      const settled = result.then(
        (value) => void (settle = () => reply.resolve(value)),
        (error: Error) => void (settle = () => reply.reject(error)),
      );
      return { deliver: () => settle?.(), ready: settled };
    });
  }

  publish(peer: Peer, channel: string, text: string, reply: Reply): void {
    const receivers = [...(this.#channels.get(channel) ?? [])];
    this.#work(peer, costsUs.command + receivers.length * costsUs.receiver, () => {
      this.#figures.count('redis publish');
      this.#figures.count('messages', receivers.length);
      this.#figures.count('message bytes', receivers.length * text.length);
      for (const receiver of receivers) receiver.inbound.send(() => receiver.message(channel, text));
      return { deliver: () => reply.resolve(receivers.length) };
    });
  }

  subscribe(peer: Peer, channel: string, reply: Reply): void {
    this.#work(peer, costsUs.command, () => {
      this.#figures.count('redis subscribe');
      this.#channels.set(channel, (this.#channels.get(channel) ?? new Set()).add(peer));
      return { deliver: () => reply.resolve(1) };
    });
  }

  unsubscribe(peer: Peer, channel: string): void {
    const peers = this.#channels.get(channel);
    peers?.delete(peer);
    if (peers?.size === 0) this.#channels.delete(channel);
  }

  /** Crashes: connections are refused until `start`, and what was in memory is lost. */
  async kill(): Promise<void> {
    this.#state = 'down';
    const peers = [...this.#peers];
    this.#peers.clear();
    this.#channels.clear();
    await this.#real.flushall();
    for (const peer of peers) peer.inbound.send(() => peer.closed());
  }

  /** Accepts connections and commands, but answers none until `start`. */
  stop(): void {
    this.#state = 'stopped';
  }

  start(): void {
    this.#state = 'up';
    this.#busyUntilUs = this.#clock.now * 1000;
    for (const work of this.#stalled.splice(0)) work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#real.disconnect();
  }

  /** Calls `run` once all earlier commands are done; it returns what the peer receives. */
  #work(peer: Peer, cost: number, run: () => Answer): void {
    if (this.#state === 'stopped') {
      this.#stalled.push(() => this.#work(peer, cost, run));
      return;
    }
    if (this.#state === 'down' || !this.#peers.has(peer)) return;
    const start = Math.max(this.#busyUntilUs, this.#clock.now * 1000);
    this.#busyUntilUs = start + cost;
    this.#figures.count('redis commands');
    this.#figures.count('redis µs', cost);
    const { deliver, ready } = run();
    this.#clock.after(this.#busyUntilUs / 1000 - this.#clock.now, () => peer.inbound.send(deliver, ready));
  }

  #define(name: string, lua: string): void {
    this.#real.defineCommand(`sim${name}`, { lua: `${prelude}\n${lua}` });
  }
}

export interface Reply {
  resolve(value: unknown): void;
  reject(error: Error): void;
}
