/**
 * `npm run chaos`: a whole gateway between clients and upstreams that fail in every known way. Prints what clients saw,
 * what the records say, and the promised figures. Exits with 1 when a figure is missed.
 *
 *     npm run chaos -- --only table,failover    some experiments
 *     npm run chaos -- --short                  a few dozen requests each
 *     npm run chaos -- --soak 15                minutes of mixed load, to watch memory
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/global-postgres.ts';
import { experiments } from './experiments.ts';
import type { Experiment, Figure } from './figure.ts';
import { soak } from './soak.ts';

const maxDetails = 20;

const { values } = parseArgs({
  options: { only: { type: 'string' }, short: { type: 'boolean', default: false }, soak: { type: 'string' } },
});

await using postgres = await startPostgres();
const figures: Figure[] = [];
for (const experiment of chosen()) {
  console.log(`\n${experiment.name}: ${experiment.description}`);
  const began = performance.now();
  const own = await experiment.run({ postgres, isShort: values.short, print: (line) => console.log(line) });
  for (const figure of own) report(figure);
  console.log(`  ${((performance.now() - began) / 1000).toFixed(1)} s`);
  figures.push(...own);
}
const missed = figures.filter(({ isMet }) => !isMet);
console.log(`\n${figures.length - missed.length} of ${figures.length} figures met`);
for (const { name, seen, aim } of missed) console.log(`missed: ${name}: ${seen} (aim: ${aim})`);
process.exitCode = missed.length === 0 ? 0 : 1;

/** @throws when a name is unknown */
function chosen(): readonly Experiment[] {
  if (values.soak !== undefined) return [soak(Number(values.soak))];
  const names = values.only?.split(',');
  const unknown = names?.find((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown !== undefined) {
    throw new Error(`Unknown experiment "${unknown}"; use one of: ${experiments.map(({ name }) => name).join(', ')}`);
  }
  return names === undefined ? experiments : experiments.filter(({ name }) => names.includes(name));
}

function report({ name, count, seen, aim, isMet, details = [] }: Figure): void {
  console.log(`  ${isMet ? 'ok    ' : 'MISSED'} ${name}: ${seen} of ${count} (aim: ${aim})`);
  const different = [...Map.groupBy(details, (detail) => detail)];
  for (const [detail, same] of different.slice(0, maxDetails)) console.log(`         ${same.length} × ${detail}`);
  if (different.length > maxDetails) console.log(`         and ${different.length - maxDetails} more`);
}
