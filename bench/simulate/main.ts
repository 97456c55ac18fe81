/**
 * `npm run simulate`: limiter, slots, breakers, cache flights and live events of 200 instances at 10,000 requests per second, on a
 * simulated clock and network (docs/scaling.md). Exits with 1 if a figure exceeds its target.
 */
import { parseArgs } from 'node:util';
import { startRedis } from '../../test/support/global-redis.ts';
import { scenarios } from './scenarios.ts';
import { Simulation } from './simulation.ts';

const { values: flags, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    instances: { type: 'string', default: '200' },
    rate: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
});
const scale = { instances: Number(flags.instances), rate: Number(flags.rate), seed: Number(flags.seed) };

await using redis = await startRedis();
if (redis === undefined) throw new Error('the simulation needs redis-server in the PATH');
console.log(`${scale.instances} instances, ${scale.rate} requests a second, seed ${scale.seed}`);
let isOver = false;
for (const scenario of scenarios.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const began = performance.now();
  const findings = await Simulation.run(redis.url, scale, (simulation) => scenario.run(simulation));
  console.log(`\n${scenario.name}: ${scenario.story} (${((performance.now() - began) / 1000).toFixed(0)} s)`);
  for (const { what, value, aim } of findings) {
    const figure = value >= 100 ? value.toFixed(0) : value.toFixed(2);
    console.log(`  ${figure.padStart(9)}  ${what}${aim === undefined ? '' : ` (at most ${aim})`}`);
    isOver ||= aim !== undefined && value > aim;
  }
}
process.exitCode = isOver ? 1 : 0;
