import type { GatewayDocument } from '#core/config/file/document.ts';
import type { Mistake } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';
import type { Config } from './validate-config.ts';

interface ReloadedConfig {
  readonly config: Config; // fixed members keep the values they have in the running gateway
  readonly postponed: readonly string[]; // paths of changes that take effect at the next start, such as `listen.port`
}

/** Resets every member that a section declares as `fixed` to its value in the running gateway. */
export function keepFixed(next: Config, running: Config, sections: Iterable<Section>): ReloadedConfig {
  const overrides = new Map<string, unknown>();
  const postponed: string[] = [];
  for (const section of sections) {
    if (section.fixed === undefined) continue;
    const [nextValue, runningValue] = [next.get(section), running.get(section)];
    if (section.fixed !== true) {
      const changedNames = section.fixed.filter((name) =>
        differs(readMember(nextValue, name), readMember(runningValue, name)),
      );
      postponed.push(...changedNames.map((name) => `${section.name}.${name}`));
      overrides.set(
        section.name,
        Object.freeze({ ...(nextValue as object), ...pickMembers(runningValue, section.fixed) }),
      );
    } else if (differs(nextValue, runningValue)) {
      postponed.push(section.name);
      overrides.set(section.name, runningValue);
    }
  }
  const get: Config['get'] = (section) =>
    overrides.has(section.name) ? (overrides.get(section.name) as never) : next.get(section);
  return { config: Object.freeze({ ...next, get }), postponed };
}

/** Returns a mistake for each plugin that the file lists and the running gateway has not loaded. */
export function findAddedPlugins(document: GatewayDocument, loadedSpecifiers: readonly string[]): Mistake[] {
  const specifiers = document.values()['plugins'];
  if (!Array.isArray(specifiers)) return [];
  return specifiers.flatMap((specifier, index) =>
    loadedSpecifiers.includes(specifier)
      ? []
      : [
          document.createMistake(
            ['plugins', index],
            'takes effect at the next start',
            'restart the gateway to load it',
          ),
        ],
  );
}

function readMember(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}

function pickMembers(value: unknown, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, readMember(value, name)]));
}

function differs(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) !== JSON.stringify(second);
}
