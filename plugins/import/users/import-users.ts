import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { escapeControls } from '#core/platform/logger.ts';
import { ImportDraft, type UnmappedSetting } from '../draft.ts';
import type { ImportedUser } from '../imported-user.ts';
import { ImportError } from '../members.ts';
import { renderUnmapped } from '../render-yaml.ts';
import type { ImportSource } from '../source.ts';
import { importAction, createImportAction, maxUsersPerAction } from './actions.ts';
import type { UserOutcome } from './import-user.ts';
import { KeysFile } from './keys-file.ts';
import { readUsers } from './read-users.ts';

interface Options {
  readonly dryRun?: true;
  readonly keys?: string;
  readonly yes?: true;
}

/** @throws CommandFailed if some users were refused */
export async function importUsers(
  source: ImportSource,
  value: unknown,
  options: Options,
  { withHost, print }: CommandContext,
): Promise<void> {
  if (source.userTables === undefined)
    throw new CommandFailed(`${source.title} has no users to import: --users is for new-api and sub2api.`, 2);
  const draft = new ImportDraft();
  const users = readUsers(value, source.userTables, draft, Date.now());
  if (users.length === 0 && draft.unmapped.length === 0) throw new ImportError('has no users');
  const refusedCount = await withHost(async (host) => {
    const outcomes =
      options.dryRun === true ? previewAll(host, source, users, options) : importBatches(host, source, users, options);
    const collected: UserOutcome[] = [];
    for await (const outcome of outcomes) collected.push(outcome);
    const notes: UnmappedSetting[] = collected.flatMap(({ id, reason }) =>
      reason === undefined ? [] : [{ path: `user ${id}`, reason }],
    );
    for (const line of describeOutcomes(collected, options.dryRun === true)) print(line);
    const unmapped = [...draft.unmapped, ...notes];
    if (unmapped.length > 0) print('Not imported:');
    for (const line of renderUnmapped(unmapped)) print(`  ${escapeControls(line)}`);
    return notes.length;
  });
  if (refusedCount > 0) throw new CommandFailed(`${refusedCount} of ${users.length} users were not imported.`);
}

async function* previewAll(
  host: Host,
  { name }: ImportSource,
  users: readonly ImportedUser[],
  { keys }: Options,
): AsyncGenerator<UserOutcome> {
  const { previewUser } = await import('./import-user.ts');
  for (const user of users) yield await previewUser(host, name, user, { areShown: keys !== undefined });
}

/** Each batch has its own record. Requested keys are on disk before their accounts are created. */
async function* importBatches(
  host: Host,
  { name, title }: ImportSource,
  users: readonly ImportedUser[],
  { keys, yes }: Options,
): AsyncGenerator<UserOutcome> {
  if (yes !== true) await confirm([`Create accounts for ${users.length} users of ${title}?`]);
  const file = keys === undefined ? undefined : await KeysFile.create(keys);
  for (let start = 0; start < users.length; start += maxUsersPerAction) {
    const batch = users.slice(start, start + maxUsersPerAction);
    const keysByUser = new Map(batch.map(({ id }) => [id, generateApiKey(host.service.prefix)]));
    const describeKeyLine = ({ id, email }: ImportedUser, account?: string) => ({
      user: id,
      email,
      account,
      key: keysByUser.get(id) ?? '',
    });
    await file?.writeProposed(batch.map((user) => describeKeyLine(user)));
    const input = { source: name, users: batch.map(toInput), keys: file !== undefined };
    const action = file === undefined ? importAction : createImportAction(keysByUser);
    const { result } = await runAction(host, getCommandOperator(), action, '', input);
    const outcomes = result['imported'] as UserOutcome[];
    const accounts = new Map(
      outcomes.flatMap(({ id, key, accountId }) => (key === undefined ? [] : [[id, accountId]])),
    );
    await file?.writeSettled(
      batch.filter(({ id }) => accounts.has(id)).map((user) => describeKeyLine(user, accounts.get(user.id))),
    );
    yield* outcomes;
  }
}

function toInput({ id, name, email, endsAt }: ImportedUser) {
  return {
    id,
    name,
    ...(email !== undefined && { email }),
    ...(endsAt !== undefined && { ends_at: Math.floor(endsAt / 1_000) }),
  };
}

const sumDays = (outcomes: readonly UserOutcome[]) => outcomes.reduce((sum, { days }) => sum + days, 0);

function describeOutcomes(outcomes: readonly UserOutcome[], isPreview: boolean): string[] {
  const filterByOutcome = (wanted: UserOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted);
  const [created, joined, importedBefore] = [
    filterByOutcome('created'),
    filterByOutcome('joined'),
    filterByOutcome('known'),
  ];
  const would = isPreview ? 'would be ' : '';
  return [
    `${created.length} accounts ${would}created, with ${sumDays(created)} days`,
    `${joined.length} existing accounts ${isPreview ? 'would get' : 'got'} ${sumDays(joined)} days`,
    `${importedBefore.length} users were imported before`,
  ];
}
