import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { EffectiveDocuments } from '#core/config/history/effective-document.ts';
import {
  ConfigHistory,
  isVariantName,
  rollbackChannel,
  type StoredConfiguration,
} from '#core/config/history/history.ts';
import type { SecretSchemas } from '#core/config/history/literals.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';

const schemas: SecretSchemas = { sections: new Map([['upstreams', upstreams]]), stages: new Map() };
const yamlOf = (model: string, key = 'sk-one') =>
  `upstreams:\n  one: { vendor: openai, api_keys: [${key}] }\nmodels: { m: { routes: [one/${model}] } }\n`;
const read = (text: string) => parseDocument(text, 'gateway.yaml', {});

let database: Database;
let history: ConfigHistory;
let warnings: string[];
beforeAll(async () => {
  database = await createTestDatabase();
  history = new ConfigHistory(database, schemas);
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  warnings = [];
  await database.query('delete from served_configuration');
  await database.query('delete from configuration_rollback');
});

/** Serves these files one after the other. */
async function serve(...texts: readonly string[]): Promise<void> {
  for (const text of texts) await history.record(await history.createStoredForm(read(text)), 'file');
}

const digestOf = async (text: string) => (await history.createStoredForm(read(text))).digest;
const numbers = (served: readonly StoredConfiguration[]) => served.map(({ id }) => id);

async function takeBack(text: string, configurationId: number, note?: string): Promise<void> {
  await history.rollBack({ fileDigest: await digestOf(text), configurationId, operator: 'ani', note });
}

describe('the history of gateway.yaml', () => {
  it('numbers what has served, once as long as it serves, and lists the newest first', async () => {
    await serve(yamlOf('a'), yamlOf('a'), yamlOf('b'), yamlOf('a'));
    const all = await history.list(10);
    expect(numbers(all)).toEqual([3, 2, 1]);
    expect(all.map(({ text }) => /one\/(\w)/.exec(text)?.[1])).toEqual(['a', 'b', 'a']);
    expect(numbers(await history.list(1, 3))).toEqual([2]);
  });

  it('gives one number to what two instances begin to serve at once', async () => {
    const described = await history.createStoredForm(read(yamlOf('a')));
    const other = new ConfigHistory(database, schemas);
    await Promise.all([history, other, history, other].map((one) => one.record(described, 'file')));
    expect(numbers(await history.list(10))).toEqual([1]);
  });

  it('gives numbers of their own to what instances begin to serve at once', async () => {
    const described = await Promise.all(['a', 'b', 'c'].map((model) => history.createStoredForm(read(yamlOf(model)))));
    await Promise.all(described.map((one) => history.record(one, 'file')));
    const all = await history.list(10);
    expect(numbers(all)).toEqual([3, 2, 1]);
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(3);
  });

  it('keeps no secret of the file, and another secret is another configuration', async () => {
    await serve(yamlOf('a', 'sk-one'), yamlOf('a', 'sk-two'));
    const all = await history.list(10);
    expect(all).toHaveLength(2);
    expect(JSON.stringify(all)).not.toMatch(/sk-(one|two)/);
  });

  it('keeps the last 500', async () => {
    await database.query(
      "insert into served_configuration (id, text, digest, brought_by) select n, 'x', n::text, 'file' from generate_series(1, 505) n",
    );
    await serve(yamlOf('a'));
    const kept = numbers(await history.list(1_000));
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([500, 506, 7]);
    expect(await history.find(6)).toBeUndefined();
  });

  it('goes back to the one before, past equal ones, and from there to the one before that', async () => {
    await serve(yamlOf('a'), yamlOf('b'), yamlOf('c'));
    const file = await digestOf(yamlOf('c'));
    expect((await history.findPrevious(file))?.id).toBe(2);
    await takeBack(yamlOf('c'), 2);
    expect((await history.findPrevious(file))?.id).toBe(1);
    // The file has changed since: what was taken back does not count.
    await serve(yamlOf('d'));
    expect((await history.findPrevious(await digestOf(yamlOf('d'))))?.id).toBe(3);
    await takeBack(yamlOf('d'), 1);
    expect(await history.findPrevious(await digestOf(yamlOf('d')))).toBeUndefined();
  });

  it('has one rollback at most: the last one, until it is released', async () => {
    expect(await history.findRollback()).toBeUndefined();
    await takeBack(yamlOf('a'), 1, 'wrong model');
    await takeBack(yamlOf('b'), 2);
    expect(await history.findRollback()).toMatchObject({ configurationId: 2, operator: 'ani', note: undefined });
    expect(await history.findRollback(await digestOf(yamlOf('a')))).toBeUndefined();
    expect(await history.release()).toBe(true);
    expect(await history.release()).toBe(false);
    expect(await history.findRollback()).toBeUndefined();
  });

  it('announces a rollback and its release to all instances', async () => {
    let count = 0;
    await database.notifications.listen(
      rollbackChannel,
      () => count++,
      () => undefined,
    );
    await takeBack(yamlOf('a'), 1);
    await expect.poll(() => count).toBe(1);
    await history.release();
    await expect.poll(() => count).toBe(2);
    await history.notifyInstances();
    await expect.poll(() => count).toBe(3);
  });

  it('tells what a variant brought from what an operator did', () => {
    expect(['canary 7', 'file', 'canary', 'canary 7 of ani', 'ani'].map(isVariantName)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

const modelOf = ({ document }: { document: ReturnType<typeof read> }) => /one\/(\w)/.exec(document.source)?.[1];

describe('the configuration in effect', () => {
  const log = {
    info: () => undefined,
    warn: (line: string) => void warnings.push(line),
    error: (line: string) => void warnings.push(line),
  };
  const open = (from: Pick<Database, 'query'> = database) =>
    new EffectiveDocuments(from, schemas, { environment: {}, log });

  it('is the file where nothing was taken back, and where the file has changed since', async () => {
    await serve(yamlOf('a'), yamlOf('b'));
    expect(modelOf(await open().resolve(read(yamlOf('b'))))).toBe('b');
    await takeBack(yamlOf('b'), 1);
    const effective = await open().resolve(read(yamlOf('c')));
    expect([modelOf(effective), effective.rollback, effective.storedForm?.digest]).toEqual([
      'c',
      undefined,
      await digestOf(yamlOf('c')),
    ]);
  });

  it('is the one before where the file was taken back, with the secrets of the file', async () => {
    await serve(yamlOf('a'), yamlOf('b'));
    await takeBack(yamlOf('b'), 1);
    const { document, rollback } = await open().resolve(read(yamlOf('b')));
    expect(rollback?.configurationId).toBe(1);
    expect(document.values()).toEqual(read(yamlOf('a')).values());
  });

  it('stays the one before while the database does not answer, and is the file where it never has', async () => {
    await serve(yamlOf('a'), yamlOf('b'));
    await takeBack(yamlOf('b'), 1);
    let isDown = false;
    const query: Database['query'] = (sql, parameters) =>
      isDown ? Promise.reject(new Error('connection lost')) : database.query(sql, parameters);
    const documents = open({ query });
    expect(modelOf(await documents.resolve(read(yamlOf('b'))))).toBe('a');
    isDown = true;
    const effective = await documents.resolve(read(yamlOf('b')));
    expect([modelOf(effective), effective.rollback?.configurationId]).toEqual(['a', 1]);
    expect(warnings.join()).toContain('the history of gateway.yaml cannot be read');
    expect(await open({ query }).resolve(read(yamlOf('b')))).toMatchObject({
      rollback: undefined,
      storedForm: undefined,
    });
  });

  it('is the file where what was to serve is not on record any more', async () => {
    await serve(yamlOf('a'), yamlOf('b'));
    await takeBack(yamlOf('b'), 1);
    await database.query('delete from served_configuration where id = 1');
    expect(modelOf(await open().resolve(read(yamlOf('b'))))).toBe('b');
    expect(warnings.join()).toContain('configuration 1, which should be in effect, is no longer on record');
  });

  it('cannot be one with a secret that the file does not have, whose line is named', async () => {
    await serve(yamlOf('a', 'sk-old'), yamlOf('b'));
    const target = (await history.find(1)) as StoredConfiguration;
    await expect(open().parseRollbackTarget(target, read(yamlOf('b')))).rejects.toThrow(
      'configuration 1 has a secret in line 2 that gateway.yaml does not have, and secrets are not kept. Write it as ${NAME}',
    );
  });

  it('cannot be what the file says already', async () => {
    await serve(yamlOf('a'));
    const target = (await history.find(1)) as StoredConfiguration;
    await expect(open().parseRollbackTarget(target, read(yamlOf('a')))).rejects.toThrow(
      'gateway.yaml already matches configuration 1',
    );
  });
});
