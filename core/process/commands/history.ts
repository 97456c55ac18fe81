import { userInfo } from 'node:os';
import type { Command as Parser } from 'commander';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { getCommandOperator } from '#core/business/operator-actions/actions.ts';
import { type ActionDetails, recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { readDocument } from '#core/config/file/document.ts';
import {
  ConfigHistory,
  type Rollback,
  type StoredConfiguration,
  createVariantName,
} from '#core/config/history/history.ts';
import { diffLines } from '#core/config/history/text-diff.ts';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { zoneOf } from '#core/extension/commands/days.ts';
import {
  addListOptions,
  type ListOptions,
  printEntries,
  readListQuery,
} from '#core/extension/commands/list-command.ts';
import type { Registry } from '#core/extension/registry.ts';
import { releaseAction, rollbackAction } from '#core/extension/validation/config-actions.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { configurations } from '#core/web/resources/configurations.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import type { CoreCommandContext } from './context.ts';

const parseNumber = parseInteger(1, 2_147_483_647);

export function defineHistory(parser: Parser, context: CoreCommandContext): void {
  const list = parser
    .command('history')
    .description('list configurations that have been in effect, or print one (secrets are masked)')
    .argument('[number]', 'number of the configuration to print', parseNumber);
  addListOptions(list, configurations, 20).action((id: number | undefined, options: ListOptions) =>
    withHistory(context, async ({ history, host, registry }) => {
      if (id !== undefined) {
        const served = await requireConfiguration(history, id);
        return context.print(options.json ? JSON.stringify(toOperatorJson(served), null, 2) : served.text.trimEnd());
      }
      const query = await readListQuery(host, configurations, options);
      const page = await configurations.list(host, query, { limit: options.limit, timeZone: zoneOf(host, options) });
      await printEntries(context, host, configurations, page, options);
      if (options.json || page.entries.length === 0) return;
      const { digest } = await history.createStoredForm(await readDocument(context.file(), process.env));
      const variantLines = (await (await registry.variantSource?.load())?.describe(host)) ?? [];
      for (const line of [
        ...describeRollbackLines(await history.findRollback(digest)),
        ...(variantLines.length > 0 ? ['', ...variantLines] : []),
      ])
        context.print(line);
    }),
  );
  parser
    .command('diff')
    .description('show what changed between two configurations; default: the last change')
    .argument('[from]', 'number of the first configuration', parseNumber)
    .argument('[to]', 'number of the second; default: the latest', parseNumber)
    .action((from: number | undefined, to: number | undefined) =>
      withHistory(context, async ({ history }) => {
        const [latest] = await history.list(1);
        const after = to === undefined ? latest : await requireConfiguration(history, to);
        if (after === undefined) throw createNotFound();
        const before =
          from === undefined ? await findPrevious(history, after) : await requireConfiguration(history, from);
        const lines = diffLines(before.text, after.text);
        context.print(`from ${before.id} to ${after.id}`);
        for (const line of lines.length === 0 ? ['nothing'] : lines) context.print(line);
      }),
    );
  parser
    .command('rollback')
    .description('undo the last change to gateway.yaml on all instances, until the file changes again')
    .argument('[number]', 'number of the configuration to go back to; default: the previous one', parseNumber)
    .option('--note <text>', 'why', parseLine)
    .option('--release', 'put gateway.yaml in effect again')
    .option('--yes', 'do not ask')
    .addHelpText(
      'after',
      `
If a second configuration is being tried on some accounts, that is the last change: without a number, the trial ends and nothing else changes.

The file itself is not changed. It takes effect again as soon as it changes, or with --release. Running instances follow within a second,
others when they start. What a reload cannot change, such as the port, changes at the next start.`,
    )
    .action((id: number | undefined, options: RollbackOptions) => runRollback(context, id, options));
}

interface RollbackOptions {
  readonly note?: string;
  readonly release?: true;
  readonly yes?: true;
}

async function runRollback(
  context: CoreCommandContext,
  id: number | undefined,
  options: RollbackOptions,
): Promise<void> {
  await withHistory(context, async ({ history, host, registry }) => {
    if (options.release === true) {
      if ((await history.findRollback()) === undefined)
        return context.print('Nothing to release: gateway.yaml is in effect; no change was rolled back.');
      await recordConfigAction(host, releaseAction, { note: options.note }, () => history.release());
      return context.print('gateway.yaml is in effect again.');
    }
    const variants = id === undefined ? await registry.variantSource?.load() : undefined;
    if (await variants?.end(host, userInfo().username, options.note))
      return context.print(`The ${registry.variantSource?.name} has ended.`);
    const file = await readDocument(context.file(), process.env);
    const { digest } = await history.createStoredForm(file);
    const target = id === undefined ? await history.findPrevious(digest) : await requireConfiguration(history, id);
    if (target === undefined) throw createNotFound();
    const { EffectiveDocuments } = await import('#core/config/history/effective-document.ts');
    const documents = new EffectiveDocuments(host.database, registry, { environment: process.env, log: host.log });
    const { document, fileDigest, fileText } = await documents.parseRollbackTarget(target, file);
    validate(document, registry);
    for (const line of diffLines(fileText, target.text)) context.print(line);
    if (options.yes !== true) await confirm(['', `Go back to configuration ${target.id} on all instances?`]);
    const { note } = options;
    const rollback = { fileDigest, configurationId: target.id, operator: userInfo().username, note };
    await recordConfigAction(host, rollbackAction, { configuration: target.id, note }, () =>
      history.rollBack(rollback),
    );
    context.print(`configuration ${target.id} is in effect instead of gateway.yaml, until the file changes`);
  });
}

function recordConfigAction(
  host: Host,
  { name, subject }: Pick<ActionKind, 'name' | 'subject'>,
  details: ActionDetails,
  work: () => Promise<unknown>,
) {
  return recordAction(
    host.database,
    { operator: getCommandOperator(), action: name, subject: subject.name, details },
    work,
  );
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
  await context.withHost((host) => work({ history: new ConfigHistory(host.database, registry), host, registry }));
}

function describeRollbackLines(rollback: Rollback | undefined): string[] {
  if (rollback === undefined) return [];
  const { variant, operator, configurationId } = rollback;
  const cause =
    variant === undefined ? `rolled back by ${operator}` : `${createVariantName(variant)} of ${operator} was promoted`;
  return ['', `${cause}: configuration ${configurationId} serves until the file changes`];
}

async function requireConfiguration(history: ConfigHistory, id: number): Promise<StoredConfiguration> {
  const served = await history.find(id);
  if (served === undefined)
    throw new CommandFailed(`Configuration ${id} not found. List them with: daypass history`, 3);
  return served;
}

async function findPrevious(history: ConfigHistory, { id, digest }: StoredConfiguration): Promise<StoredConfiguration> {
  const before = (await history.list(1, id)).find((configuration) => configuration.digest !== digest);
  if (before === undefined) throw createNotFound();
  return before;
}

function createNotFound(): CommandFailed {
  return new CommandFailed('No configuration precedes this one. List them with: daypass history');
}
