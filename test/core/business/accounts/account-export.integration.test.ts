import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportAccount } from '#core/business/accounts/account-export.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { foldUsage } from '#core/gateway/records/fold-usage.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { RecordBook } from '../../gateway/records/record-fixture.ts';

const count = 450; // more than two pages
const models = Array.from({ length: count }, (_, index) => `model-${index}`);

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** Writes a request for each model, several of them in one millisecond, and returns the export of their account. */
async function exportOfMany(): Promise<Record<string, readonly { readonly model: string }[]>> {
  const accounts = await Promise.all(['Ani', 'Budi'].map((name) => createAccount(database, 'dp', { name })));
  const at = Date.now() - 60_000;
  const records = accounts.flatMap(({ accountId }) =>
    models.map((model, index) => ({ account_id: accountId, model, started_at: at + Math.floor(index / 7) })),
  );
  await new RecordBook(database).write(...(records as Parameters<RecordBook['write']>));
  await foldUsage(database);
  const lines = await Array.fromAsync(exportAccount(database, accounts[0]?.accountId ?? ''));
  return JSON.parse(lines.join('\n'));
}

it('an export has each row of a long table once, by its primary key or without one', async () => {
  const { request_log: requests, usage_hour: usage } = await exportOfMany();
  for (const rows of [requests, usage]) {
    expect(rows).toHaveLength(count);
    expect(new Set(rows?.map(({ model }) => model))).toEqual(new Set(models));
  }
});
