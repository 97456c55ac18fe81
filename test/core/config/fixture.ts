import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { WireFormats } from '#core/config/catalog/formats.ts';
import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';
import { coreSections } from '#core/config/sections/core-sections.ts';
import { catalogSections } from '#core/config/sections/models-section.ts';
import { Registry } from '#core/extension/registry.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import { adapter, delivery, entitlement, principal } from '#core/gateway/facts.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import { descriptors } from '../../support/formats.ts';

const stages: AnyStageDefinition[] = [
  { name: 'auth', description: 'Who.', options: { type: 'object', additionalProperties: false }, writes: [principal] },
  { name: 'plan', description: 'Paid.', options: { type: 'object' }, reads: [principal], writes: [entitlement] },
  {
    name: 'rate-limit',
    description: 'Not too many.',
    options: {
      type: 'object',
      properties: {
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 60, description: 'Requests a period.' },
        period: { type: 'number', minimum: 1, default: 60, description: 'Seconds.' },
        strict: { type: 'boolean', default: false, description: 'No burst.' },
      },
      additionalProperties: false,
    },
    reads: [principal],
  },
  { name: 'format', description: 'Reads.', options: { type: 'object' }, writes: [adapter] },
  { name: 'upstream', description: 'Sends.', options: { type: 'object' }, reads: [adapter], writes: [delivery] },
  { name: 'log', description: 'Records.', options: { type: 'object' }, after: ['auth', 'upstream'] },
].map((stage) => ({ ...stage, create: () => ({}) }) as AnyStageDefinition);

export const vendors: ReadonlyMap<string, Vendor> = new Map(
  [
    { name: 'openai', title: 'OpenAI', formats: ['chat', 'responses'], baseUrl: 'https://openai.test/v1' },
    {
      name: 'anthropic',
      title: 'Anthropic',
      formats: ['messages'],
      baseUrl: 'https://anthropic.test/v1',
      auth: 'x-api-key',
      headers: { 'anthropic-version': '2023-06-01' },
    },
    { name: 'demo', title: 'Demo', formats: ['chat'], baseUrl: 'http://demo.test', auth: 'none', isDemo: true },
    { name: 'azure', title: 'Azure', formats: ['chat'] },
    {
      name: 'painting',
      title: 'Painting',
      formats: ['chat', 'images'],
      baseUrl: 'https://painting.test/v1',
      models: [{ match: 'dall-e*', kind: 'image' }],
    },
  ].map((vendor) => [vendor.name, { auth: 'bearer', ...vendor } as Vendor]),
);

export const formats: WireFormats = new Map(Object.entries(descriptors));

const required = {
  pipeline: 'pipeline: [auth]',
  upstreams: 'upstreams: { one: { format: chat, base_url: "http://one.test" } }',
  models: 'models: { test: { routes: [one/model-there] } }',
};

/** Adds the sections that every gateway.yaml needs below a text that is about something else. */
export function complete(text: string): string {
  const missing = Object.entries(required).filter(([name]) => !new RegExp(`^${name}:`, 'm').test(text));
  return [text, ...missing.map(([, section]) => section)].join('\n');
}

/** @param sections of plugins */
export function createRegistry(sections: readonly Section[] = []): Registry {
  const registry = new Registry();
  for (const section of [...coreSections, ...catalogSections, ...sections]) registry.section(section);
  for (const stage of stages) registry.stage(stage);
  for (const format of Object.values(descriptors)) registry.format(format);
  for (const vendor of vendors.values()) registry.vendor(vendor);
  return registry;
}

/** Reads a gateway.yaml as it stands, with a handful of stages and vendors. */
export function readWhole(text: string, environment: NodeJS.ProcessEnv = {}): Config {
  return validate(parseDocument(text, '/etc/daypass/gateway.yaml', environment), createRegistry());
}

export function read(text: string, environment?: NodeJS.ProcessEnv): Config {
  return readWhole(complete(text), environment);
}

/** What is wrong with it, a line a mistake; empty when nothing is. */
export function mistakesInWhole(text: string, environment?: NodeJS.ProcessEnv): string[] {
  try {
    readWhole(text, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}

export function mistakesIn(text: string, environment?: NodeJS.ProcessEnv): string[] {
  return mistakesInWhole(complete(text), environment);
}
