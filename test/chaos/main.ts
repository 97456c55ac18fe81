/**
 * `npm run chaos`: a whole gateway between clients and upstreams that fail in every known way. Prints what clients saw,
 * what the records say, and the promised figures. Exits with 1 when a figure is missed.
 *
 *     npm run chaos -- --only table,failover    some experiments
 *     npm run chaos -- --short                  a few dozen requests each
 *     npm run chaos -- --long                   the largest numbers
 *     npm run chaos -- --soak 15                minutes of mixed load, to watch memory
 */
import { inspect, parseArgs } from 'node:util';
import { startPostgres } from '../support/global-postgres.ts';
import { experiments } from './experiments.ts';
import { type Experiment, type Figure, inParallel } from './figure.ts';
import { describeReading, judge, Ruler, type RulerReading, type Verdict } from './ruler.ts';
import { soak } from './soak.ts';

const maxDetails = 20;
/** Experiments that mostly wait, at the same time. */
const patientAtOnce = 3;
const marks: Readonly<Record<Verdict, string>> = { met: 'ok    ', missed: 'MISSED', 'not measured': 'SLOW  ' };

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    soak: { type: 'string' },
  },
});

interface Judged {
  readonly figure: Figure;
  readonly verdict: Verdict;
  readonly reading: RulerReading;
}

const began = performance.now();
await using postgres = await startPostgres();
using ruler = await Ruler.start();
const all = chosen();
const patient = all.filter(({ isPatient }) => isPatient === true);
const busy = all.filter(({ isPatient }) => isPatient !== true);
const judged = [
  ...(await inParallel(patient.length, patientAtOnce, (index) => perform(patient[index] as Experiment))).flat(),
  ...(await inParallel(busy.length, 1, (index) => perform(busy[index] as Experiment))).flat(),
];
const of = (wanted: Verdict) => judged.filter(({ verdict }) => verdict === wanted);
const unmeasured = of('not measured').length === 0 ? '' : `, ${of('not measured').length} not measured`;
console.log(`\n${of('met').length} of ${judged.length} figures met${unmeasured}, in ${minutesSince(began)} minutes`);
for (const { figure } of of('missed')) console.log(`missed: ${figure.name}: ${figure.seen} (aim: ${figure.aim})`);
for (const { figure, reading } of of('not measured'))
  console.log(`not measured: machine too slow (${describeReading(reading)}): ${figure.name}: ${figure.seen}`);
process.exitCode = of('missed').length === 0 ? 0 : 1;

/** @throws when a name is unknown */
function chosen(): readonly Experiment[] {
  if (values.soak !== undefined && values.only === undefined) return [soak(Number(values.soak))];
  const names = values.only?.split(',');
  const unknown = names?.find((name) => !experiments.some((experiment) => experiment.name === name));
  if (unknown !== undefined) {
    throw new Error(`Unknown experiment "${unknown}"; use one of: ${experiments.map(({ name }) => name).join(', ')}`);
  }
  return names === undefined ? experiments : experiments.filter(({ name }) => names.includes(name));
}

/** Runs an experiment; what it prints comes with its name while others run. */
async function perform(experiment: Experiment): Promise<Judged[]> {
  const { name, description } = experiment;
  const print = (line: string) => console.log(experiment.isPatient === true ? `  ${name}: ${line.trim()}` : line);
  console.log(`\n${name}: ${description}`);
  const startedAt = performance.now();
  const minutes = values.soak === undefined ? undefined : Number(values.soak);
  const options = { postgres, isShort: values.short, isLong: values.long, minutes, print };
  const figures = await experiment.run(options).catch((error: unknown) => [failureOf(error)]);
  const reading = ruler.readSince(startedAt);
  const own = figures.map((figure) => ({ figure, verdict: judge(figure, reading), reading }));
  console.log(`\n${name}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${describeReading(reading)}`);
  own.forEach(report);
  return own;
}

/** An experiment that cannot be carried out misses its aim; the others run nevertheless. */
function failureOf(error: unknown): Figure {
  const details = [inspect(error)];
  return { name: 'the experiment as a whole', count: 1, seen: 'an error', aim: 'none', isMet: false, details };
}

function report({ figure: { name, count, seen, aim, details = [] }, verdict }: Judged): void {
  console.log(`  ${marks[verdict]} ${name}: ${seen} of ${count} (aim: ${aim})`);
  const different = [...Map.groupBy(details, (detail) => detail)];
  for (const [detail, same] of different.slice(0, maxDetails)) console.log(`         ${same.length} × ${detail}`);
  if (different.length > maxDetails) console.log(`         and ${different.length - maxDetails} more`);
}

function minutesSince(start: number): string {
  return ((performance.now() - start) / 60_000).toFixed(1);
}
