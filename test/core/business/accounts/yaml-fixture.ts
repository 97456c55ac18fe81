import { parseDocument } from '#core/config/file/document.ts';
import { ConfigError } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';
import { Registry } from '#core/extension/registry.ts';
import { type Config, validate } from '#core/extension/validation/validate-config.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';

/** Reads a gateway.yaml that knows only these sections and stages. */
export function readYaml(text: string, known: { sections?: Section[]; stages?: AnyStageDefinition[] }): Config {
  const registry = new Registry();
  for (const section of known.sections ?? []) registry.section(section);
  for (const stage of known.stages ?? []) registry.stage(stage);
  return validate(parseDocument(text, 'gateway.yaml', {}), registry);
}

/** What is wrong with it, a line a mistake; empty when nothing is. */
export function mistakesIn(...file: Parameters<typeof readYaml>): string[] {
  try {
    readYaml(...file);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n');
    throw error;
  }
}
