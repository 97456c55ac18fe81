import { type EntityProperty, MikroORM } from '@mikro-orm/postgresql';
import type { SqlSchemaGenerator } from '@mikro-orm/sql';
import { describePersonalTables } from '#core/business/accounts/personal-tables.ts';
import type { Database } from '#core/platform/database/database.ts';
import type { PersonalOption } from '#core/platform/database/personal.ts';
import type { Entities } from '#core/platform/database/tables.ts';

const holdsAnything = /^(text|varchar|character|json|bytea)/; // what people write, or a digest of it; not ids, numbers, times and states

/** Differences that entities cannot express. Anything else in a diff is a mistake. */
export const expectedDifferences = [
  // The ledger's entity cannot refer to orders, which build on it.
  'alter table "plan_period" drop constraint "plan_period_order_id_fkey"',
  // Nor does it refer to the voucher's entity; the id is enough.
  'alter table "plan_period" drop constraint "plan_period_voucher_id_fkey"',
  // Nor does a voucher refer to the entity of the order that it is a gift from.
  'alter table "voucher" drop constraint "voucher_order_id_fkey"',
  // MikroORM misreads the casts to double precision with which PostgreSQL stores this check.
  'alter table "incident" drop constraint "incident_lowest_answered_check"',
  // Until 0.4.0 the sandbox kept its secret here, and 0.4.0 does not start without it. To be dropped by a version from which no one can go
  // back to 0.4.0.
  'drop table if exists "payments_sandbox_secret" cascade',
];

/** Needs no database. */
export async function readEntities(entities: Entities): Promise<MikroORM> {
  return MikroORM.init({ entities, clientUrl: 'postgres://127.0.0.1:9/none' });
}

export async function findDifferences(database: Pick<Database, 'fork'>): Promise<string[]> {
  const generator = database.fork().config.getExtension<SqlSchemaGenerator>('@mikro-orm/schema-generator');
  const sql = await generator?.getUpdateSchemaSQL();
  return (sql ?? 'no generator')
    .split(/;\n+/)
    .filter((statement) => statement !== '' && !statement.startsWith('set names'));
}

export function findUndecidedColumns(orm: MikroORM): string[] {
  // as `table.column`
  return [...orm.getMetadata().getAll().values()].flatMap(({ tableName, props }) =>
    (props as EntityProperty[]).filter(isUndecided).map(({ fieldNames }) => `${tableName}.${fieldNames[0]}`),
  );
}

function isUndecided({ columnTypes, isPersonal, enum: isState, kind }: EntityProperty & PersonalOption): boolean {
  return kind === 'scalar' && !isState && isPersonal === undefined && holdsAnything.test(columnTypes[0] ?? '');
}

const removedBy = { delete: 'the row', update: 'the values', none: 'nothing: kept as the law asks' } as const;

export function findUndocumentedColumns(orm: MikroORM, documentation: string): string[] {
  const expected = describePersonalTables({ fork: () => orm.em.fork() }).map(
    ({ name, columns, removal }) =>
      `| \`${name}\` | ${columns.map((column) => `\`${column.name}\``).join(', ')} | ${removedBy[removal]} |`,
  );
  const found: string[] = documentation.match(/^\| `\w+` \| `.*$/gm) ?? [];
  return [
    ...expected.filter((row) => !found.includes(row)).map((row) => `add "${row}"`),
    ...found.filter((row) => !expected.includes(row)).map((row) => `remove "${row}"`),
  ];
}
