import { readFile } from 'node:fs/promises';
import { type EntityProperty, MikroORM } from '@mikro-orm/postgresql';
import { beforeAll, describe, expect, it } from 'vitest';
import { personalTables } from '#core/business/accounts/personal-tables.ts';
import { assemble } from '#core/extension/assembly.ts';
import type { PersonalOption } from '#core/platform/database/personal.ts';
import type { Entities } from '#core/platform/database/tables.ts';
import { coreEntities } from '#core/process/entities.ts';
import { defineEntity, p, personal } from '#core/index.ts';
import { silentLog } from '../../../support/database.ts';

/** What can hold anything that people write, or a digest of it. Ids, numbers, times and states cannot. */
const holdsAnything = /^(text|varchar|character|json|bytea)/;

const lookAt = (entities: Entities) => MikroORM.init({ entities, clientUrl: 'postgres://127.0.0.1:9/none' });

let entities: Entities;
let orm: MikroORM;
beforeAll(async () => {
  const { registry } = await assemble(undefined, silentLog, () => {
    throw new Error('nothing runs');
  });
  const ofPlugins = [...registry.databaseTables.values()].map((one) =>
    typeof one.entities === 'function' ? one.entities() : one.entities,
  );
  entities = [...coreEntities, ...(await Promise.all(ofPlugins)).flat()];
  orm = await lookAt(entities);
});

const isUndecided = ({ columnTypes, isPersonal, enum: isState, kind }: EntityProperty & PersonalOption) =>
  kind === 'scalar' && !isState && isPersonal === undefined && holdsAnything.test(columnTypes[0] ?? '');

const undecided = (one: MikroORM): string[] =>
  [...one.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    (props as EntityProperty[]).filter(isUndecided).map(({ fieldNames }) => `${tableName}.${fieldNames[0]}`),
  );

describe('the columns of entities', () => {
  it('say of every text, JSON and bytes whether it is personal', () => {
    expect(undecided(orm)).toEqual([]);
  });

  it('are listed where no entity says whether they are personal', async () => {
    const properties = { id: p.uuid().primary(), accountId: p.uuid(), phone: p.text(), fax: personal(p.text()) };
    const Contact = defineEntity({ name: 'Contact', tableName: 'contact', properties });
    expect(undecided(await lookAt([Contact]))).toEqual(['contact.phone']);
  });

  it('that are personal are those of the documentation', async () => {
    const documented = await readFile(new URL('../../../../docs/security.md', import.meta.url), 'utf8');
    const rows = personalTables({ fork: () => orm.em.fork() }).map(
      ({ name, columns, removal }) =>
        `| \`${name}\` | ${columns.map((column) => `\`${column.name}\``).join(', ')} | ${removal === 'delete' ? 'the row' : 'the values'} |`,
    );
    expect(documented.match(/^\| `\w+` \| `.*$/gm)?.toSorted()).toEqual(rows.toSorted());
  });

  it('may not be personal in a table that does not say whose its rows are', async () => {
    const properties = { id: p.uuid().primary(), phone: personal(p.text()) };
    const { em } = await lookAt([defineEntity({ name: 'Contact', tableName: 'contact', properties })]);
    expect(() => personalTables({ fork: () => em.fork() })).toThrow(
      'the table contact has personal columns, but neither a column account_id nor a relation to one',
    );
  });
});
