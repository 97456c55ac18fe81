import { setTimeout } from 'node:timers/promises';
import { describeConnectionError, isUnreachable } from '../errors/connection-error.ts';
import { StartRefused } from '../errors/start-refused.ts';
import type { Logger } from '../logger.ts';
import { withClient } from './with-client.ts';

const intervalsMs = { attempts: 1_000, lines: 10_000 }; // between attempts, and between log lines
const connectionOptions = { connectionTimeoutMillis: 5_000, query_timeout: 5_000, application_name: 'daypass-start' };
const maxWaitSeconds = 86_400;

interface DatabaseWait {
  readonly limitSeconds: number; // 0 does not wait
  readonly log: Logger;
  readonly signal?: AbortSignal | undefined;
  readonly intervalsMs?: typeof intervalsMs;
}

/** @throws StartRefused if DATABASE_WAIT is not a number of seconds */
export function readDatabaseWaitSeconds(environment: NodeJS.ProcessEnv): number {
  const text = environment['DATABASE_WAIT'] || '0';
  if (/^\d{1,5}$/.test(text) && Number(text) <= maxWaitSeconds) return Number(text);
  throw new StartRefused(`DATABASE_WAIT is "${text}". Write a number of seconds from 0 to ${maxWaitSeconds}.`, {
    isPermanent: true,
  });
}

/** Waits while the database is unreachable or starting, up to the limit. Other failures end the wait: opening the database reports them. */
export async function waitForDatabase(
  url: string,
  variable: string,
  { limitSeconds, log, signal, intervalsMs: { attempts, lines } = intervalsMs }: DatabaseWait,
): Promise<void> {
  const startedAt = performance.now();
  const getWaitedSeconds = () => Math.round((performance.now() - startedAt) / 1000);
  let reason: string | undefined;
  const { host, pathname } = new URL(url);
  const report = () =>
    log.warn(
      `waiting for the database ${host || 'localhost'}${pathname} of ${variable}: ${reason} (${getWaitedSeconds()} of at most ${limitSeconds} s)`,
    );
  let timer: NodeJS.Timeout | undefined;
  try {
    while (getWaitedSeconds() < limitSeconds) {
      const error = await tryToConnect(url);
      signal?.throwIfAborted();
      if (error === undefined) {
        if (reason !== undefined) log.info(`the database of ${variable} responded after ${getWaitedSeconds()} s`);
        return;
      }
      if (!isUnreachable(error)) return;
      reason = describeConnectionError(error);
      if (timer === undefined) report();
      timer ??= setInterval(report, lines);
      await setTimeout(attempts, undefined, signal && { signal }).catch(() => signal?.throwIfAborted());
    }
  } finally {
    clearInterval(timer);
  }
}

async function tryToConnect(url: string): Promise<unknown> {
  try {
    await withClient({ connectionString: url, ...connectionOptions }, (client) => client.query('SELECT 1'));
    return undefined;
  } catch (error) {
    return error;
  }
}
