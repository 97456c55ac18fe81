import { userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { readDocument } from '#core/config/file/document.ts';
import { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { ReloadContext } from '#core/extension/variants.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { Canaries, type Canary } from './record/canaries.ts';
import type { CanarySide } from './record/canary-counts.ts';
import { writeOperatorReason } from './record/canary-reason.ts';
import { describeReach, describeCanary, describeEnd } from './run/describe.ts';
import { startCanary } from './run/start-canary.ts';

const settleMs = 3_000; // for instances to report that they cannot serve the canary
const tickMs = 250;
const defaultSeconds = 600;

interface ReloadOptions {
  readonly canary?: number;
  readonly for?: number;
  readonly note?: string;
  readonly full?: true;
  readonly status?: true;
}

interface Services {
  readonly context: ReloadContext;
  readonly registry: Registry;
  readonly host: Host;
  readonly documents: EffectiveDocuments;
  readonly canaries: Canaries;
  readonly options: ReloadOptions;
}

/** @returns false if there are no canary options */
export async function reload(
  registry: Registry,
  context: ReloadContext,
  file: string | undefined,
  options: ReloadOptions,
): Promise<boolean> {
  const { canary: share, full, status } = options;
  if (file !== undefined && share === undefined)
    throw new CommandFailed(`Pass the share of the accounts that ${file} will serve, such as --canary 10%`, 2);
  if (share === undefined && full === undefined && status === undefined) return false;
  await context.withHost(async (host) => {
    const documents = new EffectiveDocuments(host.database, registry, { environment: process.env, log: host.log });
    const canaries = new Canaries(host.database, documents.history);
    const services = { context, registry, host, documents, canaries, options };
    if (share !== undefined) return start(services, file, share);
    return status === true ? printStatus(services) : makeFull(services);
  });
  return true;
}

/** @throws CommandFailed, VariantRefused, RollbackRefused, ConfigError, all before any change */
async function start(services: Services, path: string | undefined, share: number): Promise<void> {
  const { context, registry, host, documents, canaries, options } = services;
  const file = await readDocument(context.file(), process.env);
  const next = path === undefined ? file : await readDocument(path, process.env);
  const startOptions = {
    share,
    seconds: options.for ?? defaultSeconds,
    note: options.note,
    operator: userInfo().username,
  };
  const { canary, accounts } = await startCanary(
    { database: host.database, documents, canaries, registry },
    file,
    next,
    startOptions,
  );
  await waitUntilSettled(canaries, canary);
  context.print(describeCanary(canary));
  context.print(describeReach(accounts));
  context.print('Follow it with: daypass reload --status');
}

async function makeFull({ context, documents, canaries, options: { note } }: Services): Promise<void> {
  const canary = await canaries.findRunning();
  const { digest } = await documents.history.createStoredForm(await readDocument(context.file(), process.env));
  const reason = writeOperatorReason('full', userInfo().username, note);
  if (canary === undefined || !(await canaries.makeFull(canary, digest, reason)))
    throw new CommandFailed('No canary is running.');
  context.print(`canary ${canary.id} now serves all accounts`);
  if (canary.digest !== digest)
    context.print('gateway.yaml still has the old configuration: write the change into it.');
}

async function waitUntilSettled(canaries: Canaries, { id }: Canary): Promise<void> {
  for (let waitedMs = 0; waitedMs < settleMs; waitedMs += tickMs) {
    await setTimeout(tickMs);
    const [latest] = await canaries.list(1);
    if (latest?.id === id && latest.end !== undefined)
      throw new CommandFailed(`Canary ${id} has ended: ${latest.end.reason}`);
  }
}

async function printStatus({ host, canaries, context: { print } }: Services): Promise<void> {
  const { time_zone: zone } = host.section(service);
  const [latest] = await canaries.list(1);
  if (latest === undefined) return print('No canary has run yet.');
  const { end, counts, startedAt } = latest;
  print(end === undefined ? describeCanary(latest) : `${describeEnd(latest)} (${formatTime(end.at, zone)}, ${zone})`);
  if (counts === undefined) return;
  for (const line of ['', ...formatSides(counts.canary, counts.others), '']) print(line);
  print(`Recorded model calls since ${formatTime(startedAt, zone)} (${zone}); the time is the median of the accounts.`);
}

function formatShare(count: number, total: number): string {
  return total === 0 ? `${count}` : `${count} (${((100 * count) / total).toFixed(1)}%)`;
}

function formatSides(canary: CanarySide, others: CanarySide): string[] {
  const row = (label: string, value: (side: CanarySide) => string) => [label, value(canary), value(others)];
  return formatTable(
    ['', 'canary', 'others'],
    [
      row('accounts', ({ accounts }) => `${accounts}`),
      row('requests', ({ requests }) => `${requests}`),
      row('failures', ({ failures, requests }) => formatShare(failures, requests)),
      row('refusals', ({ refusals, requests }) => formatShare(refusals, requests)),
      row('responses with a first token', ({ timed }) => `${timed}`),
      row('time to first token', ({ firstTokenMs }) => (firstTokenMs === undefined ? '' : `${firstTokenMs} ms`)),
    ],
    { numericColumns: [1, 2] },
  );
}
