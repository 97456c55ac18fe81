import { tools } from '../../plugins/setup/tools.ts';
import type { Ended } from '../support/run-process.ts';

/** Takes each check when it has been made. Only the first of its faults is reported. */
export type Report = (name: string, ...faults: readonly (string | undefined)[]) => void;

/** The fault in the exit of the script; undefined for a successful one. */
export function faultOfEnd({ code, out, errors, isTimeout }: Ended, wanted = 0): string | undefined {
  if (isTimeout) return 'it did not end in time';
  return code === wanted ? undefined : `it ended with ${code}: ${`${out}\n${errors}`.trim().slice(-1_500)}`;
}

/** A tool for which the script did not print this verdict. */
export function faultOfVerdicts({ out }: Ended, ids: readonly string[], verdict: string): string | undefined {
  const lines = out.split('\n');
  const missing = ids.filter((id) => !lines.some((line) => line.includes(nameOf(id)) && line.includes(verdict)));
  return missing.length === 0 ? undefined : `not "${verdict}": ${missing.join(', ')}\n${out.trim()}`;
}

/** Whether a secret was printed. */
export function faultOfSecrets({ out, errors }: Ended, secret: string): string | undefined {
  return `${out}${errors}`.includes(secret) ? 'it printed the key' : undefined;
}

export function faultOfDifferences(differences: readonly string[]): string | undefined {
  return differences.length === 0 ? undefined : differences.slice(0, 20).join('\n');
}

function nameOf(id: string): string {
  return tools.find((tool) => tool.id === id)?.name ?? id;
}
