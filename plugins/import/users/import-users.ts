import { generateApiKey } from '#core/business/accounts/api-key.ts';
import { confirm } from '#core/extension/commands/confirm.ts';
import { type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { escapeControls } from '#core/platform/logger.ts';
import { ImportDraft, type Unmapped } from '../draft.ts';
import { ImportError } from '../members.ts';
import type { ImportSource } from '../source.ts';
import { unmappedLines } from '../write-yaml.ts';
import { importAction, importActionWith, usersAtOnce } from './actions.ts';
import { KeysFile } from './keys-file.ts';
import type { ImportedUser } from '../imported-user.ts';
import type { UserOutcome } from './import-user.ts';

interface Options {
  readonly dryRun?: true;
  readonly keys?: string;
  readonly yes?: true;
}

/** Creates accounts for a dump of users, or prints the plan. @throws ImportError; CommandFailed if some users were refused */
export async function importUsers(
  source: ImportSource,
  value: unknown,
  options: Options,
  { withHost, print }: CommandContext,
): Promise<void> {
  if (source.readUsers === undefined)
    throw new CommandFailed(`${source.title} has no users to import: --users is for new-api and sub2api.`, 2);
  const draft = new ImportDraft();
  const users = source.readUsers(value, draft, Date.now());
  if (users.length === 0 && draft.unmapped.length === 0) throw new ImportError('has no users');
  const refused = await withHost(async (host) => {
    const outcomes =
      options.dryRun === true ? previews(host, source, users, options) : imports(host, source, users, options);
    const found: UserOutcome[] = [];
    for await (const outcome of outcomes) found.push(outcome);
    const notes: Unmapped[] = found.flatMap(({ id, reason }) =>
      reason === undefined ? [] : [{ path: `user ${id}`, reason }],
    );
    for (const line of describe(found, options.dryRun === true)) print(line);
    const unmapped = [...draft.unmapped, ...notes];
    if (unmapped.length > 0) print('Not imported:');
    for (const line of unmappedLines(unmapped)) print(`  ${escapeControls(line)}`);
    return notes.length;
  });
  if (refused > 0) throw new CommandFailed(`${refused} of ${users.length} users were not imported.`);
}

async function* previews(
  host: Host,
  { name }: ImportSource,
  users: readonly ImportedUser[],
  { keys }: Options,
): AsyncGenerator<UserOutcome> {
  const { previewUser } = await import('./import-user.ts');
  for (const user of users) yield await previewUser(host, name, user, { areShown: keys !== undefined });
}

/** Imports users in batches, each with its own record. Requested keys are written to disk before their accounts are created. */
async function* imports(
  host: Host,
  { name, title }: ImportSource,
  users: readonly ImportedUser[],
  { keys, yes }: Options,
): AsyncGenerator<UserOutcome> {
  if (yes !== true) await confirm([`Make accounts of ${users.length} users of ${title}?`]);
  const file = keys === undefined ? undefined : await KeysFile.create(keys);
  for (let start = 0; start < users.length; start += usersAtOnce) {
    const batch = users.slice(start, start + usersAtOnce);
    const made = new Map(batch.map(({ id }) => [id, generateApiKey(host.service.prefix)]));
    const lineOf = ({ id, email }: ImportedUser, account?: string) => ({
      user: id,
      email,
      account,
      key: made.get(id) ?? '',
    });
    await file?.propose(batch.map((user) => lineOf(user)));
    const input = { source: name, users: batch.map(toInput), keys: file !== undefined };
    const action = file === undefined ? importAction : importActionWith(made);
    const { result } = await runAction(host, getCommandOperator(), action, '', input);
    const outcomes = result['imported'] as UserOutcome[];
    const accounts = new Map(
      outcomes.flatMap(({ id, key, accountId }) => (key === undefined ? [] : [[id, accountId]])),
    );
    await file?.settle(batch.filter(({ id }) => accounts.has(id)).map((user) => lineOf(user, accounts.get(user.id))));
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

const daysOf = (some: readonly UserOutcome[]) => some.reduce((sum, { days }) => sum + days, 0);

function describe(outcomes: readonly UserOutcome[], isDry: boolean): string[] {
  const of = (wanted: UserOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted);
  const [created, joined, known] = [of('created'), of('joined'), of('known')];
  const would = isDry ? 'would be ' : '';
  return [
    `${created.length} accounts ${would}created, with ${daysOf(created)} days`,
    `${joined.length} accounts that are here already ${isDry ? 'would get' : 'got'} ${daysOf(joined)} days`,
    `${known.length} users were imported before`,
  ];
}
