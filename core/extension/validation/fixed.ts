import type { GatewayDocument } from '#core/config/file/document.ts';
import type { Config } from './load.ts';
import type { Mistake } from '#core/config/file/mistake.ts';
import type { Section } from '#core/config/section.ts';

interface Applicable {
  readonly config: Config; // fixed members keep their running values
  /** Changed fixed paths: `data`, `listen.port`. They take effect at the next start. */
  readonly postponed: readonly string[];
}

/** Keeps the running values of all members that sections declare as `fixed`. */
export function keepFixed(next: Config, running: Config, sections: Iterable<Section>): Applicable {
  const kept = new Map<string, unknown>();
  const postponed: string[] = [];
  for (const section of sections) {
    if (section.fixed === undefined) continue;
    const [now, before] = [next.get(section), running.get(section)];
    if (section.fixed !== true) {
      const changed = section.fixed.filter((name) => differs(memberOf(now, name), memberOf(before, name)));
      postponed.push(...changed.map((name) => `${section.name}.${name}`));
      kept.set(section.name, Object.freeze({ ...(now as object), ...pick(before, section.fixed) }));
    } else if (differs(now, before)) {
      postponed.push(section.name);
      kept.set(section.name, before);
    }
  }
  const get: Config['get'] = (section) =>
    kept.has(section.name) ? (kept.get(section.name) as never) : next.get(section);
  return { config: Object.freeze({ ...next, get }), postponed };
}

/** Reports plugins of the file that the running gateway has not loaded, as mistakes. */
export function addedPlugins(document: GatewayDocument, loaded: readonly string[]): Mistake[] {
  const listed = document.values()['plugins'];
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((specifier, index) =>
    loaded.includes(specifier)
      ? []
      : [document.mistake(['plugins', index], 'takes effect at the next start', 'restart the gateway to load it')],
  );
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name];
}

function pick(value: unknown, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, memberOf(value, name)]));
}

function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
