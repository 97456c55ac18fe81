import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { guardListener, runInBackground } from '../background.ts';
import type { Logger } from '../logger.ts';
import { jitteredDelay, retryUntilDone } from '../timing/backoff.ts';
import { waitForFirst, notSettled, withDeadline } from '../timing/deadline.ts';
import { wait } from '../timing/wait.ts';
import type { Notifications } from './database.ts';
import { applySettings, waitingSettings } from './session.ts';

interface Listener {
  readonly channel: string;
  readonly onPayload: (payload: string) => void;
  readonly onGap: () => void;
}

const retryRange = { min: 100, max: 5_000 };
const deliveryTest = { intervalMs: 20_000, timeoutMs: 5_000 }; // of notifications that this process sends to itself
const testChannel = 'daypass_proof';

/** A listening connection, opened for the first listener and reopened whenever it breaks. */
export class PostgresNotifications implements Notifications, AsyncDisposable {
  readonly #url: string;
  readonly #log: Logger;
  readonly #listeners = new Set<Listener>();
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  #isListening = false;
  #firstAttempt: PromiseWithResolvers<void> | undefined;

  #isDelivering = false;
  #hasWarned = false;
  #pendingTest: { readonly payload: string; readonly onReceived: () => void } | undefined;
  readonly #isTransactionPooled: boolean;
  readonly #deliveryTest: typeof deliveryTest;

  /** @param isTransactionPooled true for a URL of a transaction-mode pooler: LISTEN succeeds, but nothing is delivered */
  constructor(url: string, log: Logger, isTransactionPooled = false, testOptions = deliveryTest) {
    this.#url = url;
    this.#log = log;
    this.#isTransactionPooled = isTransactionPooled;
    this.#deliveryTest = testOptions;
  }

  get isConnected(): boolean {
    return this.#isListening && this.#isDelivering;
  }

  async listen(channel: string, onPayload: (payload: string) => void, onGap: () => void): Promise<() => void> {
    const task = `a listener of the database's channel ${channel}`;
    const listener = {
      channel,
      onPayload: guardListener(this.#log, task, onPayload),
      onGap: guardListener(this.#log, task, onGap),
    };
    this.#listeners.add(listener);
    if (this.#firstAttempt === undefined) {
      const { resolve } = (this.#firstAttempt = Promise.withResolvers());
      runInBackground(this.#log, 'listening to the database', () => this.#stayConnected(resolve));
    }
    await this.#firstAttempt.promise;
    // If the connection breaks here, the next connection subscribes and reports the gap.
    await this.#client?.query(`LISTEN ${pg.escapeIdentifier(channel)}`).catch(() => undefined);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }

  async #stayConnected(onFirstAttempt: () => void): Promise<void> {
    const { signal } = this.#closing;
    let mayHaveGap = false;
    const onFailure = (_: unknown, failures: number) => {
      mayHaveGap = true;
      if (failures === 0) this.#log.warn('cannot listen to the database; retrying');
    };
    while (!signal.aborted) {
      const connect = () => this.#connect().finally(onFirstAttempt);
      const connection = await retryUntilDone(connect, { range: retryRange, signal, onFailure });
      if (mayHaveGap) for (const { onGap } of this.#listeners) onGap();
      mayHaveGap = true;
      await connection?.closed;
      await wait(jitteredDelay(retryRange, 0), signal);
    }
  }

  async #connect(): Promise<{ readonly closed: Promise<void> }> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      application_name: 'daypass-listener',
    });
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const ended = new AbortController();
    const disconnect = () => {
      ended.abort();
      if (this.#client === client) {
        this.#client = undefined;
        this.#isListening = false;
        this.#isDelivering = false;
      }
      client.end().catch(() => undefined);
      resolve();
    };
    client.on('error', disconnect);
    client.on('end', disconnect);
    client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''));
    try {
      await client.connect();
      await this.#withDeadline(this.#subscribe(client), ended.signal);
      runInBackground(this.#log, 'listening to the database', () => this.#watch(client, ended.signal, disconnect));
      return { closed };
    } catch (error) {
      disconnect();
      throw error;
    }
  }

  async #subscribe(client: pg.Client): Promise<void> {
    if (!this.#isTransactionPooled) await applySettings(client, waitingSettings);
    // Queries run in order, so a listener added from here on sends its LISTEN after these.
    this.#client = client;
    const channels = new Set([testChannel, ...Array.from(this.#listeners, (listener) => listener.channel)]);
    for (const channel of channels) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    this.#isListening = this.#client === client;
    if (!this.#isTransactionPooled) await this.#testDelivery(client);
  }

  /** Drops a connection that a middlebox has cut silently, because it receives no notifications and reports no error. */
  async #watch(client: pg.Client, closed: AbortSignal, disconnect: () => void): Promise<void> {
    if (this.#isTransactionPooled) return;
    const signal = AbortSignal.any([closed, this.#closing.signal]);
    for (;;) {
      await wait(this.#deliveryTest.intervalMs, signal);
      if (signal.aborted) return;
      const wasNotDelivering = !this.#isDelivering;
      await this.#withDeadline(this.#testDelivery(client), signal).catch(disconnect);
      if (wasNotDelivering && this.#isDelivering) for (const { onGap } of this.#listeners) onGap();
    }
  }

  #withDeadline(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const timeoutMs = 2 * this.#deliveryTest.timeoutMs;
    return withDeadline(work, timeoutMs, `no answer within ${timeoutMs} ms`, signal);
  }

  /** A response alone is no proof: a pooler in transaction mode responds, but delivers nothing. */
  async #testDelivery(client: pg.Client): Promise<void> {
    const { promise: received, resolve: onReceived } = Promise.withResolvers<void>();
    const payload = randomUUID();
    this.#pendingTest = { payload, onReceived };
    await client.query('SELECT pg_notify($1, $2)', [testChannel, payload]);
    const isDelivering = (await waitForFirst([received], this.#deliveryTest.timeoutMs)) !== notSettled;
    if (this.#client !== client) return;
    this.#isDelivering = isDelivering;
    if (!isDelivering && !this.#hasWarned)
      this.#log.warn('the connection to the database delivers no notifications; polling for changes instead');
    this.#hasWarned = !isDelivering;
  }

  #deliver(channel: string, payload: string): void {
    if (channel === testChannel && payload === this.#pendingTest?.payload) this.#pendingTest.onReceived();
    for (const listener of this.#listeners) if (listener.channel === channel) listener.onPayload(payload);
  }
}
