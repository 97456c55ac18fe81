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

const retriesMs = { min: 100, max: 5_000 };
/** Ms between test notifications that this process sends to itself, and until each must have arrived. */
const deliveryTests = { every: 20_000, within: 5_000 };
const testChannel = 'daypass_proof';

/** A listening connection, opened for the first listener and reopened whenever it breaks. */
export class PostgresNotifications implements Notifications, AsyncDisposable {
  readonly #url: string;
  readonly #log: Logger;
  readonly #listeners = new Set<Listener>();
  readonly #closing = new AbortController();
  #client: pg.Client | undefined;
  #isListening = false;
  /** Resolved after the first attempt to connect; undefined before the first listener. */
  #firstTry: PromiseWithResolvers<void> | undefined;

  #delivers = false;
  #hasWarned = false;
  #pendingTest: { readonly payload: string; readonly onHeard: () => void } | undefined;
  readonly #isDeaf: boolean;
  readonly #testTimes: typeof deliveryTests;

  /**
   * @param isDeaf true if nothing is delivered through this URL, although LISTEN succeeds
   * @param testTimes set by tests
   */
  constructor(url: string, log: Logger, isDeaf = false, testTimes = deliveryTests) {
    this.#url = url;
    this.#log = log;
    this.#isDeaf = isDeaf;
    this.#testTimes = testTimes;
  }

  get isConnected(): boolean {
    return this.#isListening && this.#delivers;
  }

  async listen(channel: string, onPayload: (payload: string) => void, onGap: () => void): Promise<() => void> {
    const what = `a listener of the database's channel ${channel}`;
    const listener = {
      channel,
      onPayload: guardListener(this.#log, what, onPayload),
      onGap: guardListener(this.#log, what, onGap),
    };
    this.#listeners.add(listener);
    if (this.#firstTry === undefined) {
      const { resolve } = (this.#firstTry = Promise.withResolvers());
      runInBackground(this.#log, 'listening to the database', () => this.#stayConnected(resolve));
    }
    await this.#firstTry.promise;
    // If the connection breaks here, the next one subscribes and reports the gap.
    await this.#client?.query(`LISTEN ${pg.escapeIdentifier(channel)}`).catch(() => undefined);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#listeners.clear();
    await this.#client?.end().catch(() => undefined);
  }

  async #stayConnected(onFirstTry: () => void): Promise<void> {
    const { signal } = this.#closing;
    let mayHaveMissed = false;
    const onFailure = (_: unknown, failures: number) => {
      mayHaveMissed = true;
      if (failures === 0) this.#log.warn('cannot listen to the database; retrying');
    };
    while (!signal.aborted) {
      const connect = () => this.#connect().finally(onFirstTry);
      const connection = await retryUntilDone(connect, { range: retriesMs, signal, onFailure });
      if (mayHaveMissed) for (const { onGap } of this.#listeners) onGap();
      mayHaveMissed = true;
      await connection?.lost;
      await wait(jitteredDelay(retriesMs, 0), signal);
    }
  }

  async #connect(): Promise<{ readonly lost: Promise<void> }> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
      application_name: 'daypass-listener',
    });
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    const over = new AbortController();
    const lose = () => {
      over.abort();
      if (this.#client === client) {
        this.#client = undefined;
        this.#isListening = false;
        this.#delivers = false;
      }
      client.end().catch(() => undefined);
      resolve();
    };
    client.on('error', lose);
    client.on('end', lose);
    client.on('notification', ({ channel, payload }) => this.#deliver(channel, payload ?? ''));
    try {
      await client.connect();
      await this.#withDeadline(this.#listenOn(client), over.signal);
      runInBackground(this.#log, 'listening to the database', () => this.#watch(client, over.signal, lose));
      return { lost };
    } catch (error) {
      lose();
      throw error;
    }
  }

  async #listenOn(client: pg.Client): Promise<void> {
    if (!this.#isDeaf) await applySettings(client, waitingSettings);
    // Queries run in order: a listener added from here on sends its LISTEN after these.
    this.#client = client;
    const channels = new Set([testChannel, ...Array.from(this.#listeners, (listener) => listener.channel)]);
    for (const channel of channels) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    this.#isListening = this.#client === client;
    if (!this.#isDeaf) await this.#testDelivery(client);
  }

  /** Drops a connection that a middlebox cut silently: it would receive no notifications and report no error. */
  async #watch(client: pg.Client, lost: AbortSignal, lose: () => void): Promise<void> {
    if (this.#isDeaf) return;
    const signal = AbortSignal.any([lost, this.#closing.signal]);
    for (;;) {
      await wait(this.#testTimes.every, signal);
      if (signal.aborted) return;
      const wasDeaf = !this.#delivers;
      await this.#withDeadline(this.#testDelivery(client), signal).catch(lose);
      if (wasDeaf && this.#delivers) for (const { onGap } of this.#listeners) onGap();
    }
  }

  #withDeadline(work: Promise<void>, signal: AbortSignal): Promise<void> {
    const deadline = 2 * this.#testTimes.within;
    return withDeadline(work, deadline, `no answer within ${deadline} ms`, signal);
  }

  /**
   * Sends a notification to itself. A response alone proves nothing: a pooler in transaction mode responds, but delivers nothing.
   *
   * @throws the query's error
   */
  async #testDelivery(client: pg.Client): Promise<void> {
    const { promise: heard, resolve: onHeard } = Promise.withResolvers<void>();
    const payload = randomUUID();
    this.#pendingTest = { payload, onHeard };
    await client.query('SELECT pg_notify($1, $2)', [testChannel, payload]);
    const delivers = (await waitForFirst([heard], this.#testTimes.within)) !== notSettled;
    if (this.#client !== client) return;
    this.#delivers = delivers;
    if (!delivers && !this.#hasWarned)
      this.#log.warn(
        'the connection to the database delivers no notifications; what they would say is read more often',
      );
    this.#hasWarned = !delivers;
  }

  #deliver(channel: string, payload: string): void {
    if (channel === testChannel && payload === this.#pendingTest?.payload) this.#pendingTest.onHeard();
    for (const listener of this.#listeners) if (listener.channel === channel) listener.onPayload(payload);
  }
}
