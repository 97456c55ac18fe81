import { isDeepStrictEqual } from 'node:util';
import type { Section } from '#core/config/section.ts';
import { upstreams } from '#core/config/sections/upstreams-section.ts';
import type { Pipeline } from '#core/gateway/pipeline/pipeline.ts';
import type { ListedStage } from './pipeline-rules.ts';
import type { Config } from './validate-config.ts';

/** Thrown if a variant cannot be served. The message tells the operator why; nothing has changed. */
export class VariantRefused extends Error {
  override readonly name = 'VariantRefused';
}

/**
 * Rejects a variant that changes process-wide settings: only requests can be divided between two configurations.
 *
 * @throws VariantRefused naming the keys
 */
export function requireDivisible(variant: Config, base: Config, sections: Iterable<Section>): void {
  const differingSections = [...sections].filter((section) => !isSame(variant.get(section), base.get(section)));
  if (differingSections.length === 0 && hasSameStages(variant, base))
    throw new VariantRefused('It is the same as the configuration in effect, so there is nothing to try.');
  refuseDifferences(differingSections.filter(({ isPerRequest }) => isPerRequest !== true).map(({ name }) => name));
  const [variantUpstreams, baseUpstreams] = [variant.get(upstreams), base.get(upstreams)];
  const resizedUpstreams = Object.keys(variantUpstreams).filter((name) => {
    const [capacity, baseCapacity] = [variantUpstreams[name]?.capacity, baseUpstreams[name]?.capacity];
    return capacity !== undefined && baseCapacity !== undefined && !isSame(capacity, baseCapacity);
  });
  refuseDifferences(resizedUpstreams.map((name) => `upstreams.${name}.capacity`));
}

interface Stages {
  readonly config: Pick<Config, 'stages'>;
  readonly pipeline: Pick<Pipeline, 'activatingStages' | 'accountOf'>;
}

/**
 * Rejects a variant whose stages would change state that both configurations share.
 *
 * @throws VariantRefused naming the options, or why the accounts cannot be told apart
 */
export function requireDivisibleStages(variant: Stages, base: Stages): void {
  if (base.pipeline.accountOf === undefined)
    throw new VariantRefused(
      'No stage identifies the account of a request. List the stage auth, or one with `accountOf`, in `pipeline`.',
    );
  const names = new Set([...variant.pipeline.activatingStages, ...base.pipeline.activatingStages]);
  refuseDifferences(
    [...names].flatMap((name) => findSharedDifferences(name, variant.config.stages, base.config.stages)),
  );
}

function findSharedDifferences(name: string, variant: readonly ListedStage[], base: readonly ListedStage[]): string[] {
  const findStage = (stages: readonly ListedStage[]) => stages.find(({ definition }) => definition.name === name);
  const [stage, baseStage] = [findStage(variant), findStage(base)];
  if (stage === undefined || baseStage === undefined) return [`pipeline.${name}`];
  const { shared } = stage.definition;
  if (shared === undefined) return isSame(stage.options, baseStage.options) ? [] : [`pipeline.${name}`];
  return shared
    .filter((option) => !isSame(readOption(stage, option), readOption(baseStage, option)))
    .map((option) => `pipeline.${name}.${option}`);
}

function readOption({ options }: ListedStage, name: string): unknown {
  return (options as Readonly<Record<string, unknown>>)[name];
}

function refuseDifferences(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const names = new Intl.ListFormat('en-GB').format(paths.map((path) => `\`${path}\``));
  throw new VariantRefused(
    `${names} ${paths.length === 1 ? 'differs' : 'differ'}, but ${paths.length === 1 ? 'is' : 'are'} shared by the whole process. Only upstreams, models, aliases and options of stages that share nothing can be tried. Change the other settings in gateway.yaml first.`,
  );
}

export function hasSameStages(variant: Config, base: Config): boolean {
  return isSame(listStages(variant), listStages(base));
}

function listStages({ stages }: Config): object[] {
  return stages.map(({ definition: { name }, options }) => ({ name, options }));
}

function isSame(first: unknown, second: unknown): boolean {
  // Compared as JSON, because `fixed` members may be undefined in one of them.
  return isDeepStrictEqual(toJsonValue(first), toJsonValue(second));
}

function toJsonValue(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
