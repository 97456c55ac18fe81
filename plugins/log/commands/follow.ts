import { setTimeout as sleep } from 'node:timers/promises';
import { formatEntries } from '#core/extension/commands/field-text.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { NewRequests } from '#core/gateway/records/new-requests.ts';
import { listRequests } from '#core/gateway/records/read-requests.ts';
import { Backoff } from '#core/platform/timing/backoff.ts';
import { requests as resource, tableOptions, toRequestEntry } from './requests.ts';
import type { CommandOutput } from './selection.ts';

const minWidths = [19, 11, 24, 28, 5, 11, 10, 7, 7, 13, 36]; // most values fit, so later lines stay aligned

const pollIntervalMs = 1_000;
const retryRangeMs = { min: 500, max: 5_000 }; // while the database does not respond

interface FollowOptions extends CommandOutput {
  readonly limit: number; // earlier requests, which are printed first
  readonly signal?: AbortSignal; // default: SIGINT, SIGTERM and a closed stdout
}

/** If the database stops responding, the command waits for it and continues from the same position. */
export async function followRequests(host: Host, filter: RequestFilter, options: FollowOptions): Promise<void> {
  using interruption = createInterruption(options.signal);
  const { signal } = interruption;
  const printRecords = createPrinter(options);
  const requests = new NewRequests(host.database, filter, host.now);
  await requests.begin();
  const { records } = await listRequests(host.database, filter, { limit: options.limit });
  requests.skip(records.map(({ id }) => id));
  printRecords(records.toReversed());
  const backoff = new Backoff(retryRangeMs);
  while (!signal.aborted) {
    try {
      // A query that hangs must not delay the end of the command.
      await Promise.race([printNewRequests(requests, printRecords), interruption.aborted]);
      if (backoff.failures > 0) host.log.info('the database is available again');
      backoff.reset();
      await pause(pollIntervalMs, signal);
    } catch (error) {
      if (backoff.failures === 0) host.log.warn(`the database does not respond; waiting for it: ${messageOf(error)}`);
      await pause(backoff.next(), signal);
    }
  }
}

async function printNewRequests(requests: NewRequests, print: ReturnType<typeof createPrinter>): Promise<void> {
  for await (const page of requests.read()) print(page);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function createPrinter({ print, isJson, timeZone }: CommandOutput): (records: readonly RequestRecord[]) => void {
  let hasHeading = false;
  return (records) => {
    const entries = records.map(toRequestEntry);
    if (isJson) return entries.forEach((entry) => print(JSON.stringify(entry)));
    const options = { ...tableOptions, minWidths, isZoneNamed: true };
    const lines = formatEntries(entries, resource.view.text, { timeZone, now: Date.now() }, options);
    for (const line of hasHeading ? lines.slice(1) : lines) print(line);
    hasHeading = true;
  };
}

function createInterruption(callerSignal: AbortSignal | undefined) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  process.on('SIGINT', abort);
  process.on('SIGTERM', abort);
  process.stdout.on('error', abort);
  const signal = callerSignal === undefined ? controller.signal : AbortSignal.any([callerSignal, controller.signal]);
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve());
  if (signal.aborted) resolve();
  return {
    signal,
    aborted,
    [Symbol.dispose]() {
      process.off('SIGINT', abort);
      process.off('SIGTERM', abort);
    },
  };
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
