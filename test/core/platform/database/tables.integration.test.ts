import { tmpdir } from 'node:os';
import { defineEntity, type EntityManager, p } from '@mikro-orm/postgresql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Registry } from '#core/extension/registry.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { Steps } from '#core/platform/database/steps.ts';
import type { PluginTables } from '#core/platform/database/tables.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';

const noteOf = (plugin: string) =>
  defineEntity({
    name: 'Note',
    tableName: `${plugin}_note`,
    properties: { id: p.integer().primary(), text: p.text() },
  });
const FirstNote = noteOf('first');
const SecondNote = noteOf('second');
const tablesOf = (name: string, ...entities: ReturnType<typeof noteOf>[]): PluginTables => ({
  name,
  entities,
  migrations: new URL(`./tables-fixture/${name}/`, import.meta.url),
});
const first = tablesOf('first', FirstNote);
const second = tablesOf('second', SecondNote);

let url: string;
beforeEach(async () => {
  url = await createBareDatabase();
});
afterEach(() => dropDatabase(url));

const open = (...tables: PluginTables[]): Promise<Database> =>
  openDatabase({ url, dataFolder: tmpdir(), log: silentLog, mode: 'command', isShared: true, tables });

/** Those of the plugins here: the template has the tables of others. */
async function appliedBy(database: Database): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    "SELECT name FROM migration WHERE name ~ '^(first|second|broken)/' ORDER BY id",
  );
  return rows.map(({ name }) => name);
}

const loadSteps = async () => ({
  read: (transaction: EntityManager) => transaction.execute('SELECT text FROM first_note'),
});

describe('tables of plugins', () => {
  it('are created side by side, though their entities and migrations have the same names', async () => {
    await using database = await open(first, second);
    const em = database.fork();
    em.create(FirstNote, { id: 1, text: 'one' });
    em.create(SecondNote, { id: 1, text: 'two' });
    await em.flush();
    expect(await database.query('SELECT text FROM first_note UNION SELECT text FROM second_note ORDER BY 1')).toEqual([
      { text: 'one' },
      { text: 'two' },
    ]);
    expect(await appliedBy(database)).toEqual([
      'first/Migration20261122000001_start',
      'second/Migration20261122000001_start',
    ]);
  });

  it('stay when their plugin is removed, and are found again when it is back', async () => {
    await using with1 = await open(first);
    await with1.query("INSERT INTO first_note VALUES (1, 'kept')");
    await using without = await open(second);
    expect(await appliedBy(without)).toHaveLength(2);
    await using again = await open(first);
    expect(await again.fork().findOneOrFail(FirstNote, 1)).toMatchObject({ text: 'kept' });
  });

  it('bring what core calls within its transactions, to their database alone', async () => {
    const notes = new Steps<{ read(transaction: EntityManager): Promise<unknown> }>();
    await using database = await open({ ...first, steps: notes.createRegistration(loadSteps) });
    const seen = await database.fork().transactional(async (transaction) => {
      await transaction.execute("INSERT INTO first_note VALUES (1, 'not committed')");
      return (await notes.findLoader(transaction)?.())?.read(transaction);
    });
    expect(seen).toEqual([{ text: 'not committed' }]);
    await using other = await open(first);
    expect(notes.findLoader(other.fork())).toBeUndefined();
    const twice = open(
      { ...first, steps: notes.createRegistration(loadSteps) },
      { ...second, steps: notes.createRegistration(loadSteps) },
    );
    await expect(twice).rejects.toThrow('two plugins register the same steps');
  });

  it('are refused if no migration creates them', async () => {
    await expect(open(tablesOf('nowhere'))).rejects.toThrow(/^tables "nowhere": no file Migration.* in .*nowhere/);
  });

  it('that cannot be migrated are named, and leave nothing behind', async () => {
    await expect(open(first, tablesOf('broken'))).rejects.toThrow(
      /^the tables of the plugin broken could not be migrated: broken\/Migration\d+_\w+ failed$/,
    );
    await using database = await open(first);
    expect(await database.query("SELECT to_regclass('broken_note') AS found")).toEqual([{ found: null }]);
    expect(await appliedBy(database)).toEqual(['first/Migration20261122000001_start']);
  });

  const loose = class Loose {
    id = 1;
  };

  it.each([
    [
      { ...second, name: 'other' },
      'tables "other": the table "second_note" must be named "other" or begin with "other_"',
    ],
    [{ ...first, name: 'my-notes', entities: [] }, 'tables "my-notes": the name must be snake_case'],
    [
      { ...first, entities: [loose] },
      'tables "first": class Loose must be a result of defineEntity, or a class set on one with setClass',
    ],
  ])('outside their name space are refused: %#', async (tables, message) => {
    const registry = new Registry();
    await expect(registry.registerAs('any', async () => registry.tables(tables))).rejects.toThrow(message);
  });

  it('of two plugins may not share a name', () => {
    const registry = new Registry();
    registry.tables(first);
    expect(() => registry.tables(first)).toThrow('tables "first" is registered twice');
  });
});
