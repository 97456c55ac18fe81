import { buildCatalog } from '../build-catalog.ts';
import { models } from '../catalog-sections.ts';
import { deepFreeze } from '../deep-freeze.ts';
import type { Registry } from '../registry.ts';
import type { JsonSchema } from '../schema.ts';
import type { GatewayDocument } from './document.ts';
import { allowVariables } from './editor-schema.ts';
import { ConfigError, suggest } from './mistake.ts';
import { type ListedStage, readPipeline } from './pipeline-rules.ts';
import type { Section, SectionValue, SectionValues } from './section.ts';
import { pipelineSection } from './sections.ts';
import { Validator } from './validator.ts';

/** A gateway.yaml that is valid. Frozen, with every value in it: plugins share what they get. */
export interface Config extends SectionValues {
  readonly file: string;
  /** Differs between two configurations unless they say the same. */
  readonly fingerprint: string;
  readonly stages: readonly ListedStage[];
}

/** @throws ConfigError with every mistake that there is */
export function validate(document: GatewayDocument, registry: Registry): Config {
  const values = document.values();
  const validator = new Validator(document);
  refuseUnknownSections(values, registry, validator);
  const sections = new Map<string, unknown>();
  for (const { name, schema } of registry.sections.values()) {
    const given = values[name] ?? structuredClone(schema.default);
    if (given === undefined)
      validator.report(
        [name],
        'is missing',
        `add it${schema.description === undefined ? '' : `: ${schema.description}`}`,
      );
    else sections.set(name, validator.validate(given, schema, [name]));
  }
  const stages = readPipeline(values['pipeline'], registry, validator);
  checkSections(sections, registry, validator, document.isProduction);
  if (validator.mistakes.length === 0) reviewCatalog(readerOf(sections), registry, validator);
  if (validator.mistakes.length > 0) throw new ConfigError(validator.mistakes);
  for (const value of sections.values()) deepFreeze(value);
  for (const { options } of stages) deepFreeze(options);
  const { file, fingerprint } = document;
  return Object.freeze({ file, fingerprint, stages: Object.freeze(stages), ...readerOf(sections) });
}

/** The JSON Schema of the whole file: for editors, and as documentation. */
export function composeSchema(registry: Registry): JsonSchema & { readonly $schema: string; readonly title: string } {
  const sections = [...registry.sections.values(), pipelineSection(registry)];
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'gateway.yaml',
    type: 'object',
    properties: Object.fromEntries(sections.map(({ name, schema }) => [name, allowVariables(schema)])),
    required: sections.filter(({ schema }) => schema.default === undefined).map(({ name }) => name),
    additionalProperties: false,
  };
}

function refuseUnknownSections(values: Record<string, unknown>, registry: Registry, validator: Validator): void {
  const known = [...registry.sections.keys(), 'pipeline'];
  for (const name of Object.keys(values)) {
    if (!known.includes(name)) validator.report([name], 'is not known here', suggest(name, known), true);
  }
}

/** Rules across fields and sections; a section whose schema is not satisfied is undefined for the others. */
function checkSections(
  sections: ReadonlyMap<string, unknown>,
  registry: Registry,
  validator: Validator,
  isProduction: boolean,
): void {
  const all = { ...readerOf(sections), vendors: registry.vendors, isProduction };
  for (const { name, check } of registry.sections.values()) {
    const value = sections.get(name);
    if (value !== undefined) check?.(value, (path, wrong, right) => validator.report(path, wrong, right), all);
  }
}

/** What can only be seen in the catalog as a whole: what plugins find in it that cannot work. */
function reviewCatalog(values: SectionValues, registry: Registry, validator: Validator): void {
  if (registry.catalogReviews.length === 0) return;
  const catalog = buildCatalog(values, registry.vendors);
  for (const { model, route, wrong, right } of registry.catalogReviews.flatMap((review) => review.problems(catalog))) {
    const routes = values.get(models)[model]?.routes ?? [];
    const index = routes.findIndex((one) => (typeof one === 'string' ? one : one.to) === route);
    validator.report(['models', model, 'routes', index], wrong, right);
  }
}

function readerOf(sections: ReadonlyMap<string, unknown>): SectionValues {
  return {
    get: <S extends Section>({ name, schema }: S) =>
      (sections.get(name) ?? deepFreeze(structuredClone(schema.default))) as SectionValue<S>,
  };
}
