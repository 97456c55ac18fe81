import { allowNull } from '#core/config/file/editor-schema.ts';
import { canBelongToPlugin, suggest } from '#core/config/file/mistake.ts';
import { requireValidSchema, type Validator } from '#core/config/file/validator.ts';
import type { CheckContext, Report, Section, SectionValues, YamlPath } from '#core/config/section.ts';
import { delivery, entitlement, principal } from '#core/gateway/facts.ts';
import type { AnyFact } from '#core/gateway/pipeline/fact.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import { array } from '#core/platform/schema.ts';
import type { Registry } from '../registry.ts';

interface Entry extends ListedStage {
  readonly isOff: boolean; // written as `log: false`
}

/** A stage in the list, with its options validated and defaults filled in. */
export interface ListedStage {
  readonly definition: AnyStageDefinition;
  readonly options: unknown;
  readonly path: YamlPath;
}

export function readPipeline(
  value: unknown,
  registry: Registry,
  validator: Validator,
  hasAllPlugins: boolean,
): ListedStage[] {
  if (!Array.isArray(value) || value.length === 0) {
    const wrong = value === undefined ? 'is missing' : 'is not a list of stages';
    validator.report(
      ['pipeline'],
      wrong,
      `list the stages in order, such as: ${computeWorkingOrder(registry).join(', ')}`,
    );
    return [];
  }
  const names = value.map(readStageName).filter((name) => name !== undefined);
  const entries = value.map((entry, index) =>
    readEntry(entry, ['pipeline', index], names, registry, validator, hasAllPlugins),
  );
  const validEntries = entries.filter((entry) => entry !== undefined);
  reportRepeatedStages(validEntries, validator);
  const stages = validEntries.filter((stage) => !stage.isOff);
  // The order can be checked only if every entry is valid, because other stages may depend on an invalid one.
  if (validEntries.length === value.length) {
    checkOrder(stages, registry, validator);
    reportMissingStages(validEntries, registry, validator);
  }
  return stages;
}

function computeWorkingOrder(registry: Registry): string[] {
  const remaining = [...registry.stages.values()];
  const ordered: AnyStageDefinition[] = [];
  const isReady = ({ name, reads = [], after = [] }: AnyStageDefinition) =>
    reads.every((fact) => ordered.some(({ writes }) => writes?.includes(fact))) &&
    !remaining.some((other) => other.name !== name && after.includes(other.name));
  for (;;) {
    // Authentication and plan checks come first, so that refused callers cost no more work.
    const next = remaining.filter(isReady).toSorted((a, b) => rankOf(a) - rankOf(b))[0];
    if (next === undefined) return ordered.map(({ name }) => name);
    ordered.push(next);
    remaining.splice(remaining.indexOf(next), 1);
  }
}

function rankOf({ reads = [], writes = [], after = [] }: AnyStageDefinition): number {
  if (writes.includes(principal)) return 0;
  if (writes.includes(entitlement)) return 1;
  if (reads.includes(principal)) return after.length > 0 ? 2 : 3;
  return 4;
}

/** Applies each stage's own rules, which compare several options. Ignores mistakes about values not in the file, such as defaults. */
export function checkStages(stages: readonly ListedStage[], validator: Validator, context: CheckContext): void {
  const report: Report = (path, wrong, right) => {
    if (validator.document.contains(path)) validator.report(path, wrong, right);
  };
  for (const { definition, options, path } of stages)
    if (options !== undefined) definition.check?.(options, [...path, definition.name], report, context);
}

export function findPipelineNotices(
  stages: readonly ListedStage[],
  registry: Registry,
  values: SectionValues,
): string[] {
  const lacks = (fact: AnyFact) => !stages.some(({ definition: { writes } }) => writes?.includes(fact));
  return [
    ...(lacks(principal)
      ? [
          `anyone can call without a key: the pipeline has no stage that authenticates callers${suggestWriters(principal, registry)}`,
        ]
      : []),
    ...(lacks(entitlement) && !lacks(principal)
      ? [
          `every valid key is served, with or without a paid period: the pipeline has no stage that checks it${suggestWriters(entitlement, registry)}`,
        ]
      : []),
    ...(lacks(delivery)
      ? [
          `model calls are refused: the pipeline has no stage that sends them to an upstream${suggestWriters(delivery, registry)}`,
        ]
      : []),
    ...stages.flatMap(({ definition, options }) => definition.notices?.(options, values) ?? []),
  ];
}

function suggestWriters(fact: AnyFact, registry: Registry): string {
  const names = listWriters(fact, registry);
  return names.length === 0 ? '' : `, such as ${names.join(' or ')}`;
}

function listWriters(fact: AnyFact, registry: Registry): string[] {
  return [...registry.stages.values()].filter(({ writes }) => writes?.includes(fact)).map(({ name }) => name);
}

function readStageName(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined;
  const names = Object.keys(entry);
  return names.length === 1 ? names[0] : undefined;
}

function readEntry(
  entry: unknown,
  path: YamlPath,
  listedNames: readonly string[],
  registry: Registry,
  validator: Validator,
  hasAllPlugins: boolean,
): Entry | undefined {
  const name = readStageName(entry);
  if (name === undefined) {
    validator.report(path, 'is not a stage', 'write its name, or one name with options: "rate-limit: { limit: 60 }"');
    return undefined;
  }
  const definition = registry.stages.get(name);
  if (definition === undefined) {
    const stageNames = [...registry.stages.keys()];
    if (!hasAllPlugins && canBelongToPlugin(name, stageNames, listedNames)) return undefined;
    validator.report(path, `names the stage "${name}", which does not exist`, suggest(name, stageNames));
    return undefined;
  }
  const writtenOptions = typeof entry === 'string' ? {} : (entry as Record<string, unknown>)[name];
  if (writtenOptions === false) return { definition, options: undefined, path, isOff: true };
  const optionsPath = typeof entry === 'string' ? path : [...path, name];
  try {
    if (registry.foreignStages.has(name)) requireValidSchema(definition.options);
    const options = validator.validate(writtenOptions ?? {}, definition.options, optionsPath);
    return { definition, options, path, isOff: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    validator.report(path, `has an invalid options schema: ${reason}`, `fix the stage ${name}`);
    return undefined;
  }
}

function reportRepeatedStages(stages: readonly ListedStage[], validator: Validator): void {
  const seenNames = new Set<string>();
  for (const { definition, path } of stages) {
    if (seenNames.has(definition.name))
      validator.report(path, `lists the stage ${definition.name} twice`, 'keep one of them');
    seenNames.add(definition.name);
  }
}

function reportMissingStages(stages: readonly Entry[], registry: Registry, validator: Validator): void {
  const isWritten = (fact: AnyFact) => stages.some(({ definition: { writes } }) => writes?.includes(fact));
  for (const { name, expectedFor, writes = [] } of registry.stages.values()) {
    if (expectedFor === undefined || stages.some(({ definition }) => definition.name === name)) continue;
    if (writes.length > 0 && writes.every(isWritten)) continue;
    const right = `add ${name} to the list, or "${name}: false" to do without it`;
    validator.report(['pipeline'], `has no stage for ${expectedFor}`, right, true);
  }
}

function checkOrder(stages: readonly ListedStage[], registry: Registry, validator: Validator): void {
  for (const [index, { definition, path }] of stages.entries()) {
    const earlierStages = stages.slice(0, index).map((stage) => stage.definition);
    for (const fact of definition.reads ?? []) {
      if (earlierStages.some(({ writes }) => writes?.includes(fact))) continue;
      const writers = listWriters(fact, registry);
      const right =
        writers.length === 0
          ? 'list a stage that writes it before'
          : `put ${writers.join(' or ')} before ${definition.name}`;
      validator.report(path, `${definition.name} needs the fact ${fact.name}, which no stage before it writes`, right);
    }
    for (const name of definition.after ?? []) {
      if (!stages.slice(index + 1).some((later) => later.definition.name === name)) continue;
      validator.report(path, `${definition.name} comes before ${name}`, `put ${name} before ${definition.name}`);
    }
  }
}

/** Creates the section `pipeline`. Its schema contains every registered stage's options. */
export function pipelineSection(registry: Registry): Section {
  const stages = [...registry.stages.values()];
  return {
    name: 'pipeline',
    schema: array(
      {
        minItems: 1,
        items: {
          anyOf: [
            { enum: stages.map(({ name }) => name) },
            {
              type: 'object',
              properties: Object.fromEntries(
                stages.map(({ name, description, options }) => [
                  name,
                  {
                    description,
                    anyOf: [
                      options.required === undefined ? allowNull(options) : options,
                      { const: false, description: 'Turns the stage off.' },
                    ],
                  },
                ]),
              ),
              additionalProperties: false,
              minProperties: 1,
              maxProperties: 1,
            },
          ],
        },
      },
      'The stages that every request passes through, in this order.',
    ),
  };
}
