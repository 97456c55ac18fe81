import type { Cli } from './clis.ts';
import type { Outcome } from './take-turn.ts';

/** One line for each tool and one column for each upstream format: seconds, or that it failed. */
export function writeMatrix(clis: readonly Cli[], formats: readonly string[], outcomes: readonly Outcome[]): string {
  const rows = clis.map((cli) => [
    cli.id,
    cli.version,
    ...formats.map((format) => describe(outcomes.filter((one) => one.cli.id === cli.id && one.format === format))),
  ]);
  return [['', '', ...formats], ...rows].map(writeRow).join('\n');
}

/** A pair is played again with a new key: one failure fails it. */
function describe(outcomes: readonly Outcome[]): string {
  const [first] = outcomes;
  if (first === undefined) return '-';
  return outcomes.some(({ fault }) => fault !== undefined) ? 'FAILED' : `${first.seconds.toFixed(1)} s`;
}

function writeRow([tool = '', version = '', ...cells]: readonly string[]): string {
  return `  ${tool.padEnd(14)}${version.padEnd(10)}${cells.map((cell) => cell.padEnd(11)).join('')}`.trimEnd();
}
