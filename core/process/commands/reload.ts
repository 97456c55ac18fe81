import { userInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import { readDocument } from '#core/config/file/document.ts';
import { canaryReasonBy } from '#core/config/history/canary-reason.ts';
import type { Canaries, Canary } from '#core/config/history/canaries.ts';
import type { CanarySide } from '#core/config/history/canary-counts.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { EffectiveDocuments } from '../effective-document.ts';
import type { CoreCommandContext } from './context.ts';
import { orderWorkers } from './workers.ts';

/** Ms for which the command waits for an instance that cannot serve the canary. */
const settleTime = 3_000;
const settleTick = 250;

interface ReloadOptions {
  readonly canary?: number;
  readonly for: number;
  readonly note?: string;
  readonly full?: true;
  readonly status?: true;
}

/** `daypass reload`: all instances read gateway.yaml again, or serve another file to a share of the accounts. */
export function defineReload(parser: Parser, context: CoreCommandContext): void {
  parser
    .command('reload')
    .description('read gateway.yaml again on all instances, or try another file on a share of the accounts')
    .argument(
      '[file]',
      'the new configuration, for --canary; default: gateway.yaml, where a change of it was rolled back',
    )
    .addOption(
      new Option('--canary <share>', 'serve it to this share of the accounts, such as 10%').argParser(parseShare),
    )
    .option('--for <time>', 'how long, before it may become full by itself: 10m, 2h', parseTime, 600)
    .option('--note <text>', 'why', parseLine)
    .addOption(new Option('--full', 'serve the running canary to all accounts').conflicts(['canary', 'status']))
    .addOption(new Option('--status', 'show the running canary beside the others').conflicts('canary'))
    .addHelpText(
      'after',
      `
A canary serves the same accounts on all instances, and is judged by its failures, refusals and time to first token. It is rolled back
automatically where the counts say that it is worse, and becomes full after its time where they say that it is no worse; with too few requests
to tell it goes on. "daypass rollback" ends it. Requests in flight finish where they began.

A changed gateway.yaml is loaded at once, by all: write the change into another file.

  daypass reload gateway.next.yaml --canary 10% --for 10m
  daypass reload --status`,
    )
    .action((file: string | undefined, options: ReloadOptions) => reload(context, file, options));
}

/** What the command works with. */
interface Parts {
  readonly context: CoreCommandContext;
  readonly database: Pick<Database, 'query'>;
  readonly documents: EffectiveDocuments;
  readonly canaries: Canaries;
  readonly options: ReloadOptions;
}

async function reload(context: CoreCommandContext, file: string | undefined, options: ReloadOptions): Promise<void> {
  if (file !== undefined && options.canary === undefined)
    throw new CommandFailed(`Say which share of the accounts ${file} is to serve, such as: --canary 10%`, 2);
  const isPlain = options.canary === undefined && options.status === undefined && options.full === undefined;
  // Workers report what came of it, and a database need not be reached.
  if (isPlain && (await orderWorkers(context, 'reload')) === undefined) return;
  const { registry } = await context.load();
  const [{ EffectiveDocuments }, { Canaries }] = await Promise.all([
    import('../effective-document.ts'),
    import('#core/config/history/canaries.ts'),
  ]);
  await context.withHost(async (host) => {
    const documents = new EffectiveDocuments(host.database, registry, { environment: process.env, log: host.log });
    const { database } = host;
    const parts = { context, database, documents, canaries: new Canaries(host.database, documents.history), options };
    if (options.canary !== undefined) return start(parts, registry, file, options.canary);
    if (options.status === true) return show(parts, host.section(service).time_zone);
    if (options.full === true) return makeFull(parts);
    await documents.history.announce();
    context.print('All running instances read gateway.yaml again.');
  });
}

/** @throws CommandFailed, CanaryRefused, RollbackRefused, ConfigError: nothing has changed */
async function start(parts: Parts, registry: Registry, path: string | undefined, share: number): Promise<void> {
  const { context, database, documents, canaries, options } = parts;
  const [{ describeActive, describeCanary }, { startCanary }] = await Promise.all([
    import('../canary/describe.ts'),
    import('../canary/start-canary.ts'),
  ]);
  const file = await readDocument(context.file(), process.env);
  const next = path === undefined ? file : await readDocument(path, process.env);
  const wish = { share, seconds: options.for, note: options.note, operator: userInfo().username };
  const begun = await startCanary({ database, documents, canaries, registry }, file, next, wish);
  await untilSettled(canaries, begun.canary);
  context.print(describeCanary(begun.canary));
  context.print(describeActive(begun));
  context.print('Follow it with: daypass reload --status');
}

async function makeFull({ context, documents, canaries, options: { note } }: Parts): Promise<void> {
  const canary = await canaries.running();
  const { digest } = await documents.history.describe(await readDocument(context.file(), process.env));
  const reason = canaryReasonBy('full', userInfo().username, note);
  if (canary === undefined || !(await canaries.makeFull(canary, digest, reason)))
    throw new CommandFailed('No canary runs.');
  context.print(`canary ${canary.id} serves all accounts now`);
  if (canary.digest !== digest) context.print('gateway.yaml is behind: write the change into it.');
}

/** Fails for a canary that an instance has refused meanwhile. */
async function untilSettled(canaries: Canaries, { id }: Canary): Promise<void> {
  for (let waited = 0; waited < settleTime; waited += settleTick) {
    await setTimeout(settleTick);
    const [last] = await canaries.list(1);
    if (last?.id === id && last.end !== undefined)
      throw new CommandFailed(`Canary ${id} has ended: ${last.end.reason}`);
  }
}

async function show({ canaries, context: { print } }: Parts, zone: string): Promise<void> {
  const { describeCanary, describeEnd } = await import('../canary/describe.ts');
  const [last] = await canaries.list(1);
  if (last === undefined) return print('No canary has run yet.');
  const { end, counts, startedAt } = last;
  print(end === undefined ? describeCanary(last) : `${describeEnd(last)} (${formatTime(end.at, zone)}, ${zone})`);
  if (counts === undefined) return;
  for (const line of ['', ...compareSides(counts.canary, counts.others), '']) print(line);
  print(
    `Model calls on record since ${formatTime(startedAt, zone)} (${zone}); the time is the median of the accounts.`,
  );
}

function withPercent(count: number, of: number): string {
  return of === 0 ? `${count}` : `${count} (${((100 * count) / of).toFixed(1)}%)`;
}

function compareSides(canary: CanarySide, others: CanarySide): string[] {
  const row = (label: string, value: (side: CanarySide) => string) => [label, value(canary), value(others)];
  return formatTable(
    ['', 'canary', 'others'],
    [
      row('accounts', ({ accounts }) => `${accounts}`),
      row('requests', ({ requests }) => `${requests}`),
      row('failures', ({ failures, requests }) => withPercent(failures, requests)),
      row('refusals', ({ refusals, requests }) => withPercent(refusals, requests)),
      row('answers with a first token', ({ timed }) => `${timed}`),
      row('time to first token', ({ firstTokenMs }) => (firstTokenMs === undefined ? '' : `${firstTokenMs} ms`)),
    ],
    { numbers: [1, 2] },
  );
}

/** @returns from 0 to 1 */
function parseShare(text: string): number {
  const share = /^\d{1,2}(\.\d{1,2})?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : 0;
  if (share > 0) return share;
  throw new InvalidArgumentError('It must be a share of the accounts from 0.01% to 99.99%, such as 10%.');
}

/** @returns seconds */
function parseTime(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 0);
  if (seconds >= 60 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a time from 1m to 24h, such as 10m.');
}
