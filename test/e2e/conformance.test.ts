import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelFeatures } from '#core/config/catalog/abilities.ts';
import { mergeProfiles } from '#core/config/catalog/profile.ts';
import { type Support, determineSupport } from '../../plugins/format/catalog/matrix.ts';
import { vendors } from '../../plugins/upstream/vendors.ts';
import { allCells, type Outcome, runCell } from '../conformance/cell.ts';
import { openConformanceFixture, type ConformanceFixture, vendorOf } from '../conformance/fixture.ts';
import { losses } from '../conformance/losses.ts';
import { describeCell, writeTable } from '../conformance/table.ts';
import { routeTo, upstreamAt } from '../plugins/upstream/fixture.ts';
import { createBareDatabase, dropDatabase } from '../support/database.ts';
import { textFormats, conversational, type UpstreamTextFormat, upstreamTextFormats } from '../support/formats.ts';

let fixture: ConformanceFixture;
let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await createBareDatabase();
  fixture = await openConformanceFixture(databaseUrl);
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await dropDatabase(databaseUrl);
});

const cells = allCells().map((cell) => ({ cell, name: describeCell(cell) }));
const outcomes = new Map<string, Outcome>();

// One gateway plays all cells: it remembers the reasoning of earlier ones by the ids of their calls.
describe('every client format works on every upstream format', { shuffle: false }, () => {
  it.each(cells)('the client gets what its upstream answers: $name', async ({ cell, name }) => {
    const outcome = await runCell(fixture, cell);
    outcomes.set(name, outcome);
    expect(outcome.verdict === 'fail' ? outcome.why : '').toBe('');
  });

  it('the table of docs/conformance.md has the results of formats', async () => {
    for (const { cell, name } of cells) {
      if (!outcomes.has(name)) outcomes.set(name, await runCell(fixture, cell));
    }
    const lines = cells.map(({ cell, name }) => ({ cell, outcome: outcomes.get(name) as Outcome }));
    const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'conformance.md'), 'utf8');
    expect(page).toContain(writeTable(lines));
  });
});

const pairs = textFormats.flatMap((client) => upstreamTextFormats.map((upstream) => ({ client, upstream })));

describe('losses in the output of `daypass check`', () => {
  it.each(pairs)('`daypass check` lists what a $client client loses on $upstream', ({ client, upstream }) => {
    const checked = modelFeatures.map((feature) => [
      feature,
      lossOf(determineSupport(conversational[client], routeFor(upstream), feature)),
    ]);
    const found = modelFeatures.map((feature) => {
      const happening = losses.filter((loss) => loss.checked === feature && loss.happens(client, upstream));
      return [feature, happening.map(({ name }) => name)];
    });
    expect(checked).toEqual(found);
  });
});

function routeFor(upstream: UpstreamTextFormat) {
  const vendor = vendors.find(({ name }) => name === vendorOf[upstream]);
  return routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats: [upstream] }), {
    profile: mergeProfiles(vendor ?? {}),
  });
}

function lossOf(support: Support): readonly string[] {
  return typeof support === 'string' ? [] : support.losses;
}
