import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelFeature, modelFeatures } from '#core/config/catalog/abilities.ts';
import type { Route } from '#core/config/catalog/catalog.ts';
import { parseDocument } from '#core/config/file/document.ts';
import { buildCatalog } from '#core/config/sections/build-catalog.ts';
import { assemble } from '#core/extension/assembly.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { createLogger } from '#core/platform/logger.ts';
import { determineSupport } from '../../plugins/format/catalog/matrix.ts';
import { describeCell, writeReasons, writeVendorTable } from '../conformance/table.ts';
import { descriptions } from '../conformance/vendors/descriptions.ts';
import { vendorLosses } from '../conformance/vendors/losses.ts';
import { allVendorCells, expectedOutcome, runVendorCell, type VendorCell } from '../conformance/vendors/vendor-cell.ts';
import { openVendorFixture, type VendorFixture, writeYaml } from '../conformance/vendors/vendor-fixture.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { conversational, type TextFormat, textFormats } from '../support/formats.ts';

let fixture: VendorFixture;
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await createBareDatabase();
  fixture = await openVendorFixture(databaseUrl);
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await dropDatabase(databaseUrl);
});

const cells = allVendorCells();
const lossesOf = (cell: VendorCell): readonly string[] => {
  const outcome = expectedOutcome(cell);
  return outcome.verdict === 'loss' ? outcome.losses : [];
};

/** In what vendors differ most; `npm run conformance` plays everything. */
const shortForm = new Set(['late system message', 'tools', 'history from elsewhere', 'error in the answer']);
/** Each answer of these costs the time that the gateway waits for an end. */
const slow = new Set(descriptions.filter(({ staysOpen }) => staysOpen).map(({ name }) => name));

describe('every client format works with odd vendors', () => {
  const played = cells.filter(
    ({ feature, isStream, upstream }) =>
      isStream && (slow.has(upstream) ? feature === 'tools' : shortForm.has(feature)),
  );

  it.each(played.map((cell) => ({ cell, name: describeCell(cell) })))(
    'the client gets what its odd vendor answers: $name',
    async ({ cell }) => {
      expect(await runVendorCell(fixture, cell)).toEqual(expectedOutcome(cell));
    },
  );

  it('the tables of docs/conformance.md have the results of vendors', async () => {
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'conformance.md'), 'utf8');
    const lines = cells.map((cell) => ({ cell, outcome: expectedOutcome(cell) }));
    expect(page).toContain(writeVendorTable(lines));
    expect(page).toContain(writeReasons(lines));
  });
});

it.each(vendorLosses)('a scenario that is played has the accepted loss: $loss, $feature', (entry) => {
  for (const vendor of entry.vendors) {
    const losing = cells.filter((cell) => cell.upstream === vendor && lossesOf(cell).includes(entry.loss));
    expect(losing.map(({ feature }) => feature)).toContain(entry.feature);
    expect(losing.map(({ client }) => client)).toEqual(expect.arrayContaining([...(entry.clients ?? [])]));
  }
});

/** Columns of `daypass check`. It has none for the loss of the stop sequence. */
const columns: Readonly<Record<string, ModelFeature>> = {
  'the grammar of freeform tools is described, not enforced': 'tools',
  'tool calls cannot be forced': 'tools',
  'parallel tool calls cannot be disabled': 'parallel tools',
  'images in tool results are sent in a user message': 'images',
  'reasoning effort cannot be set': 'reasoning',
  'the schema is in the prompt; only JSON is enforced': 'structured output',
  'the schema is in the prompt; nothing is enforced': 'structured output',
};
/** Losses of formats, whoever the vendor is: conformance.test.ts has them. */
const ofFormats = new Set(['reasoning has no signature', 'image URLs work only if Google can fetch them']);

describe('losses on vendors in the output of `daypass check`', async () => {
  const { registry } = await assemble(
    undefined,
    createLogger(() => undefined),
    () => expect.unreachable(),
  );
  const document = parseDocument(writeYaml('http://127.0.0.1:1'), '/etc/daypass/gateway.yaml', {});
  const catalog = buildCatalog(validate(document, registry), registry.vendors, registry.formats);
  const pairs = descriptions.flatMap(({ name: vendor }) => textFormats.map((client) => ({ vendor, client })));

  it.each(pairs)('`daypass check` lists what a $client client loses on $vendor', ({ vendor, client }) => {
    const [route] = catalog.models.find(({ id }) => id === vendor)?.routes ?? [];
    expect(checkedOn(route as Route, client)).toEqual(found(vendor, client));
  });
});

function checkedOn(route: Route, client: TextFormat): string[] {
  const checked = modelFeatures.flatMap((feature) => {
    const support = determineSupport(conversational[client], route, feature);
    const losses = typeof support === 'string' ? [] : support.losses;
    return losses.filter((loss) => !ofFormats.has(loss)).map((loss) => `${feature}: ${loss}`);
  });
  return checked.toSorted();
}

function found(vendor: string, client: TextFormat): string[] {
  const losses = new Set(cells.filter((cell) => cell.upstream === vendor && cell.client === client).flatMap(lossesOf));
  return [...losses].flatMap((loss) => (loss in columns ? [`${columns[loss]}: ${loss}`] : [])).toSorted();
}
