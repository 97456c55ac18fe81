import { defineAction, type SubjectKind, text } from '#core/business/operator-actions/action-kind.ts';
import { describeAsIs } from '#core/business/operator-actions/member-describers.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { array, boolean, integer, object } from '#core/platform/schema.ts';
import type { UserOutcome } from './import-user.ts';

/** Small batches let the records of a long import show how far it has come. */
export const maxUsersPerAction = 500;

/** All records have this subject, because accounts have no ids before they are created. */
const accounts: SubjectKind = { name: 'accounts' };

export const importAction = defineAction({
  name: 'accounts.import',
  subject: accounts,
  summary: 'create accounts for the users of another gateway, each once, with their remaining days',
  input: object(['source', 'users'], {
    source: text('Name of the other gateway, such as new-api. An id is imported once for each name.', 40),
    users: array({
      items: object(['id', 'name'], {
        id: text('Id of the user at the other gateway.', 60),
        name: text('Name of the account.', 100),
        email: text('Email address for signing in.', 320),
        ends_at: integer({ minimum: 0 }, 'End of the paid access, in seconds since 1970.'),
      }),
      minItems: 1,
      maxItems: maxUsersPerAction,
    }),
    keys: boolean('Returns the new keys, once. Otherwise each owner sees the key after signing in.'),
  }),
  // Email addresses are stored only with the accounts.
  unrecorded: ['users', 'keys'],
  secrets: ['imported'],
  tells: { source: describeAsIs },
  resolve: (_host, input) => Promise.resolve({ ...input, count: input.users.length }),
  perform: (host, _id, input) => importAll(host, input, undefined),
});

interface ImportInput {
  readonly source: string;
  readonly users: readonly {
    readonly id: string;
    readonly name: string;
    readonly email?: string | undefined;
    readonly ends_at?: number | undefined;
  }[];
  readonly keys?: boolean | undefined;
}

/** Uses keys that are already on disk, so that a lost response loses none. Their names are the users' ids in the source. */
export function createImportAction(keys: ReadonlyMap<string, string>): typeof importAction {
  return { ...importAction, perform: (host, _id, input) => importAll(host, input, keys) };
}

async function importAll(
  host: Host,
  { source, users, keys: areShown = false }: ImportInput,
  savedKeys: ReadonlyMap<string, string> | undefined,
): Promise<{ imported: UserOutcome[] }> {
  const { importUser } = await import('./import-user.ts');
  const imported: UserOutcome[] = [];
  for (const { id, name, email, ends_at: endsAtSeconds } of users) {
    const user = { id, name, email, endsAt: endsAtSeconds === undefined ? undefined : endsAtSeconds * 1_000 };
    imported.push(await importUser(host, source, user, { areShown, key: savedKeys?.get(id) }));
  }
  return { imported };
}
