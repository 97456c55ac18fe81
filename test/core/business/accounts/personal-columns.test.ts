import { describe, expect, it } from 'vitest';
import { describePersonalTables } from '#core/business/accounts/personal-tables.ts';
import { defineEntity, p, personal } from '#core/index.ts';
import { findUndecidedColumns, findUndocumentedColumns, readEntities } from '../../../../.ci/entity-rules.ts';

const id = p.uuid().primary();
const accountId = p.uuid();

function readContact(properties: object) {
  return readEntities([defineEntity({ name: 'Contact', tableName: 'contact', properties: { id, ...properties } })]);
}

describe('check:entities', () => {
  it('reports a text column that is neither personal nor impersonal', async () => {
    const orm = await readContact({ accountId, phone: p.text(), fax: personal(p.text()) });
    expect(findUndecidedColumns(orm)).toEqual(['contact.phone']);
  });

  it('reports personal columns that docs/security.md lacks, and documented ones that do not exist', async () => {
    const orm = await readContact({ accountId, fax: personal(p.text().nullable()) });
    expect(findUndocumentedColumns(orm, '| `old` | `fax` | the row |')).toEqual([
      'add "| `contact` | `fax` | the values |"',
      'remove "| `old` | `fax` | the row |"',
    ]);
  });
});

describe('a table with personal columns', () => {
  it('belongs to an account by a relation, even with another relation to itself', async () => {
    const Contact = defineEntity({ name: 'Contact', tableName: 'contact', properties: { id, accountId } });
    const Reply = defineEntity({
      name: 'Reply',
      tableName: 'reply',
      properties: {
        id,
        parent: () => p.manyToOne(Reply).nullable(),
        contact: () => p.manyToOne(Contact),
        text: personal(p.text()),
      },
    });
    const { em } = await readEntities([Contact, Reply]);
    expect(describePersonalTables({ fork: () => em.fork() })).toMatchObject([
      { name: 'reply', ofAccount: '(contact_id) in (select id from contact where account_id = ?)', removal: 'delete' },
    ]);
  });

  it('must say whose its rows are', async () => {
    const { em } = await readContact({ phone: personal(p.text()) });
    expect(() => describePersonalTables({ fork: () => em.fork() })).toThrow(
      'the table contact has personal columns, but neither a column account_id nor a relation to one',
    );
  });
});
