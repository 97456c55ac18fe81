import { isDeepStrictEqual } from 'node:util';
import type { Section } from '#core/config/section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { ListedStage } from './pipeline-rules.ts';
import type { Config } from './load.ts';

/** Reason why a variant cannot serve some of the accounts, worded for the operator. Nothing has changed. */
export class VariantRefused extends Error {
  override readonly name = 'VariantRefused';
}

/**
 * Rejects a variant with different process-wide settings: only requests can be divided between two configurations.
 *
 * @throws VariantRefused naming the keys
 */
export function requireDivisible(next: Config, base: Config, sections: Iterable<Section>): void {
  const all = [...sections];
  const differing = all.filter((section) => !isSame(next.get(section), base.get(section)));
  if (differing.length === 0 && hasSameStages(next, base))
    throw new VariantRefused('It says the same as the configuration that serves, so there is nothing to try.');
  refuse(differing.filter(({ isPerRequest }) => isPerRequest !== true).map(({ name }) => name));
  const [its, theirs] = [next.get(upstreams), base.get(upstreams)];
  const sized = Object.keys(its).filter((name) => {
    const [one, other] = [its[name]?.capacity, theirs[name]?.capacity];
    return one !== undefined && other !== undefined && !isSame(one, other);
  });
  refuse(sized.map((name) => `upstreams.${name}.capacity`));
}

interface Stages {
  readonly config: Pick<Config, 'stages'>;
  readonly pipeline: Pick<Pipeline, 'activating' | 'accountOf'>;
}

/**
 * Rejects a variant whose stages would change state shared with the other configuration.
 *
 * @throws VariantRefused naming the options, or the reason why accounts cannot be distinguished
 */
export function requireDivisibleStages(next: Stages, base: Stages): void {
  if (base.pipeline.accountOf === undefined)
    throw new VariantRefused(
      'No stage tells which account a request is of: list the stage auth, or one with `accountOf`, in `pipeline`.',
    );
  const names = new Set([...next.pipeline.activating, ...base.pipeline.activating]);
  refuse([...names].flatMap((name) => sharedDifferences(name, next.config.stages, base.config.stages)));
}

function sharedDifferences(name: string, next: readonly ListedStage[], base: readonly ListedStage[]): string[] {
  const [its, theirs] = [next, base].map((stages) => stages.find(({ definition }) => definition.name === name));
  if (its === undefined || theirs === undefined) return [`pipeline.${name}`];
  const { shared } = its.definition;
  if (shared === undefined) return isSame(its.options, theirs.options) ? [] : [`pipeline.${name}`];
  return shared
    .filter((option) => !isSame(valueOf(its, option), valueOf(theirs, option)))
    .map((option) => `pipeline.${name}.${option}`);
}

function valueOf({ options }: ListedStage, name: string): unknown {
  return (options as Readonly<Record<string, unknown>>)[name];
}

function refuse(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const names = new Intl.ListFormat('en-GB').format(paths.map((path) => `\`${path}\``));
  throw new VariantRefused(
    `${names} ${paths.length === 1 ? 'differs' : 'differ'}, and the process has ${paths.length === 1 ? 'it' : 'them'} only once. Only upstreams, models, aliases and options of stages that share nothing can be tried: change the rest in gateway.yaml, first.`,
  );
}

/** Returns true if both configurations list the same stages with the same options. */
export function hasSameStages(next: Config, base: Config): boolean {
  return isSame(optionsOf(next), optionsOf(base));
}

function optionsOf({ stages }: Config): object[] {
  return stages.map(({ definition: { name }, options }) => ({ name, options }));
}

/** Compares values as JSON: kept `fixed` members may be undefined, and the order of members is irrelevant. */
function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
