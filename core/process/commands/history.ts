import { userInfo } from 'node:os';
import type { Command as Parser } from 'commander';
import { readDocument } from '#core/config/file/document.ts';
import { service } from '#core/config/sections/core-sections.ts';
import type { ConfigHistory, Served } from '#core/config/history/history.ts';
import { diffLines } from '#core/config/history/text-diff.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import { validate } from '#core/extension/validation/load.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { CoreCommandContext } from './context.ts';

const number = parseInteger(1, 2_147_483_647);

/** `daypass history`, `diff` and `rollback`: the configurations that have served, and the way back to one. */
export function defineHistory(parser: Parser, context: CoreCommandContext): void {
  parser
    .command('history')
    .description('list the configurations that have served, or print one, with its secrets masked')
    .argument('[number]', 'of the configuration to print', number)
    .option('--limit <configurations>', 'to list', parseInteger(1, 500), 20)
    .action((id: number | undefined, { limit }: { limit: number }) =>
      withHistory(context, async ({ history, host, registry }) => {
        if (id !== undefined) return context.print((await requireServed(history, id)).text.trimEnd());
        const { digest } = await history.describe(await readDocument(context.file(), process.env));
        for (const line of await describe(history, digest, host, limit)) context.print(line);
        const tried = (await (await registry.variantSource?.load())?.describe(host)) ?? [];
        if (tried.length > 0) context.print('');
        for (const line of tried) context.print(line);
      }),
    );
  parser
    .command('diff')
    .description('show what changed between two configurations that have served: the last change, if none is given')
    .argument('[from]', 'number of the first', number)
    .argument('[to]', 'number of the second; default: the last one', number)
    .action((from: number | undefined, to: number | undefined) =>
      withHistory(context, async ({ history }) => {
        const [last] = await history.list(1);
        const after = to === undefined ? last : await requireServed(history, to);
        if (after === undefined) throw nothing();
        const before = from === undefined ? await beforeOf(history, after) : await requireServed(history, from);
        const lines = diffLines(before.text, after.text);
        context.print(`from ${before.id} to ${after.id}`);
        for (const line of lines.length === 0 ? ['nothing'] : lines) context.print(line);
      }),
    );
  parser
    .command('rollback')
    .description('take the last change of gateway.yaml back, on all instances, until the file changes')
    .argument('[number]', 'of the configuration to go back to; default: the one before', number)
    .option('--note <text>', 'why', parseLine)
    .option('--release', 'serve gateway.yaml again')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
A second configuration that is tried on a share of the accounts is the last change: without a number, it ends, and nothing else changes.

The file is not changed. It serves again as soon as it changes, or with --release. Running instances follow within a second; others when
they start. What a reload cannot change, such as the port, follows at the next start.`,
    )
    .action((id: number | undefined, options: RollbackOptions) => rollBack(context, id, options));
}

interface RollbackOptions {
  readonly note?: string;
  readonly release?: true;
  readonly yes?: true;
}

async function rollBack(context: CoreCommandContext, id: number | undefined, options: RollbackOptions): Promise<void> {
  await withHistory(context, async ({ history, host, registry }) => {
    if (options.release === true) {
      const hasReleased = await history.release();
      return context.print(
        hasReleased
          ? 'gateway.yaml serves again.'
          : 'Nothing to release: gateway.yaml serves; no change was rolled back.',
      );
    }
    const variants = id === undefined ? await registry.variantSource?.load() : undefined;
    if (await variants?.end(host, userInfo().username, options.note))
      return context.print(`The ${registry.variantSource?.name} has ended.`);
    const file = await readDocument(context.file(), process.env);
    const { digest } = await history.describe(file);
    const target = id === undefined ? await history.previous(digest) : await requireServed(history, id);
    if (target === undefined) throw nothing();
    const { EffectiveDocuments } = await import('#core/config/history/effective-document.ts');
    const documents = new EffectiveDocuments(host.database, registry, { environment: process.env, log: host.log });
    const { document, fileDigest, fileText } = await documents.readRollback(target, file);
    validate(document, registry);
    for (const line of diffLines(fileText, target.text)) context.print(line);
    if (options.yes !== true) await confirm(['', `Go back to configuration ${target.id} on all instances?`]);
    const { note } = options;
    await history.rollBack({ fileDigest, configurationId: target.id, operator: userInfo().username, note });
    context.print(`configuration ${target.id} serves in place of gateway.yaml, until the file changes`);
  });
}

interface HistoryParts {
  readonly history: ConfigHistory;
  readonly host: Host;
  readonly registry: Registry;
}

export async function withHistory(
  context: CoreCommandContext,
  work: (parts: HistoryParts) => Promise<void>,
): Promise<void> {
  const { registry } = await context.load();
  const { ConfigHistory } = await import('#core/config/history/history.ts');
  await context.withHost((host) => work({ history: new ConfigHistory(host.database, registry), host, registry }));
}

async function describe(history: ConfigHistory, fileDigest: string, host: Host, limit: number): Promise<string[]> {
  const { time_zone: timeZone } = host.section(service);
  const [{ isVariant, variantName }, all, rollback] = await Promise.all([
    import('#core/config/history/history.ts'),
    history.list(limit),
    history.rollback(fileDigest),
  ]);
  if (all.length === 0) return ['No configuration has served yet.'];
  const rows = all.map(({ id, servedAt, broughtBy }) => [
    `${id}`,
    formatTime(servedAt, timeZone),
    broughtBy === 'file' ? 'gateway.yaml' : isVariant(broughtBy) ? broughtBy : `rolled back by ${broughtBy}`,
  ]);
  return [
    ...formatTable(['', `serves since (${timeZone})`, 'from'], rows, { numbers: [0] }),
    ...(rollback === undefined
      ? []
      : [
          rollback.variant === undefined
            ? `\nrolled back by ${rollback.operator}: configuration ${rollback.configurationId} serves until the file changes`
            : `\n${variantName(rollback.variant)} of ${rollback.operator} became full: configuration ${rollback.configurationId} serves until the file changes`,
        ]),
  ];
}

async function requireServed(history: ConfigHistory, id: number): Promise<Served> {
  const found = await history.find(id);
  if (found === undefined)
    throw new CommandFailed(`There is no configuration ${id}. List them with: daypass history`, 3);
  return found;
}

async function beforeOf(history: ConfigHistory, { id, digest }: Served): Promise<Served> {
  const before = (await history.list(1, id)).find((one) => one.digest !== digest);
  if (before === undefined) throw nothing();
  return before;
}

function nothing(): CommandFailed {
  return new CommandFailed('There is no configuration before this one. List them with: daypass history');
}
