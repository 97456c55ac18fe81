import { dirname, resolve } from 'node:path';
import type { GatewayDocument } from '#core/config/file/document.ts';
import { allowNull, allowVariables } from '#core/config/file/editor-schema.ts';
import { findClosestName, ConfigError, canBelongToPlugin, type Mistake, suggest } from '#core/config/file/mistake.ts';
import type { ValidPart } from '#core/config/file/valid-part.ts';
import { readDefaults, requireValidSchema, Validator } from '#core/config/file/validator.ts';
import type { CheckContext, Report, Section, SectionValue, SectionValues, YamlPath } from '#core/config/section.ts';
import { buildCatalogInSteps } from '#core/config/sections/build-catalog.ts';
import { models } from '#core/config/sections/models-section.ts';
import { findProductionReason } from '#core/config/sections/production.ts';
import { upstreams, createUpstreamsSchema } from '#core/config/sections/upstreams-section.ts';
import { type FolderFiles, emptyFolder, readFolder } from '#core/platform/read-folder.ts';
import type { JsonSchema } from '#core/platform/schema.ts';
import { runToEnd } from '#core/platform/timing/turn.ts';
import type { Registry } from '../registry.ts';
import { checkStages, type ListedStage, readPipeline, pipelineSection } from './pipeline-rules.ts';
import pluginsOfSections from './plugins-of-sections.json' with { type: 'json' };

/** A valid gateway.yaml. Deeply frozen, because plugins share it. */
export interface Config extends SectionValues {
  /** Digest of the configuration; equal configurations have equal fingerprints. */
  readonly fingerprint: string;
  /** Absolute paths of the files that were read besides gateway.yaml, and of their folders. */
  readonly watched: readonly string[];
  readonly stages: readonly ListedStage[];
}

/**
 * @param pluginMistakes mistakes about plugins that could not be loaded; names that may belong to one of these are accepted
 * @throws ConfigError with every mistake in the file
 */
export function validate(document: GatewayDocument, registry: Registry, pluginMistakes?: readonly Mistake[]): Config {
  return runToEnd(validateInSteps(document, registry, pluginMistakes));
}

/** Like `validate`, but yields between short steps, so that a running gateway keeps serving. */
export function* validateInSteps(
  document: GatewayDocument,
  registry: Registry,
  pluginMistakes: readonly Mistake[] = registry.loadMistakes,
): Generator<undefined, Config> {
  const hasAllPlugins = pluginMistakes.length === 0;
  const values = document.values();
  yield;
  const validator = new Validator(document);
  // If a plugin's entry uses an unset variable, the document already contains that mistake.
  validator.mistakes.push(...pluginMistakes.filter((mistake) => !document.mistakes.includes(mistake)));
  reportUnknownSections(values, registry, validator, hasAllPlugins);
  const { sections, validParts } = yield* evaluateSections(values, registry, validator);
  const folders = readFolders(sections, registry, document.file);
  yield;
  const sectionValues = createReader(sections, folders);
  const stages =
    values['pipeline'] === undefined && isMisspelled('pipeline', values, registry)
      ? []
      : readPipeline(values['pipeline'], registry, validator, hasAllPlugins);
  const production = findProductionReason(sectionValues, document.isProduction);
  const context: CheckContext = {
    ...sectionValues,
    formats: registry.formats,
    vendors: registry.vendors,
    paymentProviders: registry.paymentProviders,
    pagePaths: listPagePaths(registry),
    isProduction: production !== undefined,
    production,
    hasRedis: document.hasRedis,
    hasAllPlugins,
    isValid: ({ name }) => sections.get(name) !== undefined,
    names: ({ name }) => validParts.get(name)?.names,
  };
  yield* checkSections(validParts, registry, validator, context);
  checkStages(stages, validator, context);
  if (validator.mistakes.length === 0) yield* reviewCatalog(sectionValues, registry, validator);
  if (validator.mistakes.length > 0) throw new ConfigError(validator.mistakes);
  for (const value of sections.values()) deepFreeze(value);
  for (const { options } of stages) deepFreeze(options);
  const fingerprint = [document.fingerprint, ...folders.values().map(({ digest }) => digest)].join('');
  const watched = [...folders.values()].flatMap((folder) => folder.watched);
  return Object.freeze({ fingerprint, watched, stages: Object.freeze(stages), ...sectionValues });
}

function* evaluateSections(values: Record<string, unknown>, registry: Registry, validator: Validator) {
  const sections = new Map<string, unknown>();
  const validParts = new Map<string, ValidPart>();
  // Skips sections that the file omits: compiling their schemas takes a tenth of `daypass check`. Tests cover the defaults of the gateway's
  // own sections, but not those of third-party plugins.
  const trustsDefaults = registry.foreignPlugins.size === 0;
  for (const { name, schema } of registry.sections.values()) {
    const writtenValue = values[name] ?? structuredClone(schema.default);
    if (writtenValue === undefined) {
      const advice = schema.description === undefined ? 'add it' : `add it: ${schema.description}`;
      if (!isMisspelled(name, values, registry)) validator.report([name], 'is missing', advice);
      continue;
    }
    const plugin = registry.sectionPlugins.get(name) ?? '';
    try {
      if (registry.foreignPlugins.has(plugin)) requireValidSchema(schema);
      const isTrusted = trustsDefaults && (values[name] ?? null) === null;
      const { value, validPart } = isTrusted ? readDefaults(schema) : validator.evaluate(writtenValue, schema, [name]);
      yield;
      sections.set(name, value);
      validParts.set(name, validPart);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      validator.report([name], `has an invalid schema: ${reason}`, `fix the plugin ${plugin}, which registers it`);
    }
  }
  return { sections, validParts };
}

function listPagePaths(registry: Registry): string[] {
  const aliasedEndpoints = registry.endpoints.filter(({ isAliased }) => isAliased === true);
  return [
    ...registry.pages.map(({ path }) => path),
    ...new Set(aliasedEndpoints.map(({ path }) => `/${path.split('/')[2]}`)), // `/models`, for `/v1/models`
  ];
}

function readFolders(
  sections: ReadonlyMap<string, unknown>,
  registry: Registry,
  file: string,
): ReadonlyMap<string, FolderFiles> {
  const folders = new Map<string, FolderFiles>();
  for (const { name, folder } of registry.sections.values()) {
    const value = sections.get(name);
    if (folder === undefined || value === undefined) continue;
    const spec = folder(value);
    folders.set(name, readFolder(resolve(dirname(file), spec.folder), spec));
  }
  return folders;
}

/** Composes the JSON Schema of gateway.yaml, for editors and documentation. */
export function composeSchema(registry: Registry): JsonSchema & { readonly $schema: string; readonly title: string } {
  const sections = [...registry.sections.values(), pipelineSection(registry)];
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'gateway.yaml',
    type: 'object',
    properties: Object.fromEntries(sections.map((section) => [section.name, createEditorSchema(section, registry)])),
    required: sections.filter(({ schema }) => schema.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  };
}

function createEditorSchema({ name, schema }: Section, registry: Registry): JsonSchema {
  const editable = allowVariables(name === upstreams.name ? createUpstreamsSchema(registry) : schema);
  return schema.default === undefined ? editable : allowNull(editable);
}

function reportUnknownSections(
  values: Record<string, unknown>,
  registry: Registry,
  validator: Validator,
  hasAllPlugins: boolean,
): void {
  const sectionNames = listSectionNames(registry);
  for (const name of Object.keys(values)) {
    if (sectionNames.includes(name)) continue;
    const owner = findMissingOwner(name);
    if (owner !== undefined) {
      const wrong = `belongs to the plugin "${owner}", which this gateway does not have`;
      validator.report([name], wrong, `remove it, or restore plugins/${owner}`, true);
      continue;
    }
    if (!hasAllPlugins && canBelongToPlugin(name, sectionNames, Object.keys(values))) continue;
    // "plan" is more likely to be a misspelling of the section "plans" than the stage with that name.
    const isStage = registry.stages.has(name) && findClosestName(name, sectionNames) === undefined;
    if (isStage) validator.report([name], 'is a stage', 'write it in the list "pipeline"', true);
    else validator.report([name], 'is not a known key', composeAdvice(name, sectionNames, registry), true);
  }
}

function listSectionNames(registry: Registry): string[] {
  return [...registry.sections.keys(), 'pipeline'];
}

function findMissingOwner(section: string): string | undefined {
  // `npm run docs:configuration` generates the list.
  return Object.hasOwn(pluginsOfSections, section)
    ? pluginsOfSections[section as keyof typeof pluginsOfSections]
    : undefined;
}

function isMisspelled(section: string, values: Record<string, unknown>, registry: Registry): boolean {
  const sectionNames = listSectionNames(registry);
  return Object.keys(values).some(
    (name) => !sectionNames.includes(name) && findClosestName(name, sectionNames) === section,
  );
}

const variableByMisplacedKey: readonly (readonly [RegExp, string])[] = [
  [/^(?:database|db|postgres|postgresql|pg)(?:_?ur[il])?$/i, 'DATABASE_URL'],
  [/^(?:redis|valkey)(?:_?ur[il])?$/i, 'REDIS_URL'],
  [/^(?:node_?)?env(?:ironment)?$/i, 'NODE_ENV'],
];

function composeAdvice(name: string, sectionNames: readonly string[], registry: Registry): string {
  const variable = variableByMisplacedKey.find(([pattern]) => pattern.test(name))?.[1];
  if (variable !== undefined) return `set the environment variable ${variable}`;
  const owners = [...registry.sections.values()].filter(({ schema }) => Object.hasOwn(schema.properties ?? {}, name));
  if (owners.length === 0) return suggest(name, sectionNames);
  return `write it under ${owners.map((owner) => `"${owner.name}"`).join(' or ')}`;
}

function* checkSections(
  validParts: ReadonlyMap<string, ValidPart>,
  registry: Registry,
  validator: Validator,
  context: CheckContext,
): Generator<undefined, void> {
  for (const { name, check } of registry.sections.values()) {
    const { value, strippedMaps = [] } = validParts.get(name) ?? {};
    if (value === undefined || check === undefined) continue;
    const incompletePaths = new Set(strippedMaps.map((path) => toPathKey([name, ...path])));
    const report: Report = (path, wrong, right, atKey) => {
      // A member that seems to be missing may be present under a name that was rejected as unknown.
      if (!incompletePaths.has(toPathKey(path))) validator.report(path, wrong, right, atKey);
    };
    yield;
    check(value, report, context);
  }
}

function toPathKey(path: YamlPath): string {
  return JSON.stringify(path.map(String));
}

function* reviewCatalog(values: SectionValues, registry: Registry, validator: Validator): Generator<undefined, void> {
  if (registry.catalogReviews.length === 0) return;
  yield;
  const catalog = yield* buildCatalogInSteps(values, registry.vendors, registry.formats);
  for (const review of registry.catalogReviews) {
    yield;
    for (const { model, route, wrong, right } of review.problems(catalog)) {
      const routes = values.get(models)[model]?.routes ?? [];
      const index = routes.findIndex((entry) => (typeof entry === 'string' ? entry : entry.to) === route);
      validator.report(['models', model, 'routes', index], wrong, right);
    }
  }
}

function createReader(sections: ReadonlyMap<string, unknown>, folders: ReadonlyMap<string, FolderFiles>) {
  return {
    get: <S extends Section>({ name, schema }: S) => (sections.get(name) ?? getDefaults(schema)) as SectionValue<S>,
    files: ({ name }: Section) => (folders.get(name) ?? emptyFolder).files,
  } satisfies SectionValues;
}

const frozenDefaults = new WeakMap<JsonSchema, unknown>();

function getDefaults(schema: JsonSchema): unknown {
  if (!frozenDefaults.has(schema)) frozenDefaults.set(schema, deepFreeze(readDefaults(schema).value));
  return frozenDefaults.get(schema);
}

/** The value must not contain cycles. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
