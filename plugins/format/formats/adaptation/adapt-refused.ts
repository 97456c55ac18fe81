import type { Quirks } from '#core/config/catalog/quirks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { isMeaningless, mapEntries, without } from './adapt-members.ts';
import type { Adaptation } from '../contract/adaptation.ts';

/** Members of OpenRouter and LiteLLM that name further models. They are removed: the plan and the record cover only the requested model. */
export const furtherModels = ['models', 'fallbacks'];

/**
 * Removes members that a route rejects, at any depth: another vendor's history, defaults that a client sends explicitly, and
 * beta features of a vendor that is not behind the route.
 *
 * @param others lists members that only the format's own vendor supports
 */
export function adaptRefused(others: (quirks: Quirks) => readonly string[] = () => []): Adaptation {
  const known = new WeakMap<Quirks, MemberRules>();
  return (body, { profile: { quirks }, notes }) => {
    let rules = known.get(quirks);
    if (rules === undefined) {
      rules = new MemberRules(quirks, others(quirks));
      known.set(quirks, rules);
    }
    return rules.isEmpty ? body : (withoutRefused(body, rules, '', notes) as JsonObject);
  };
}

/** Returns true if a route rejects a member at the top level of a request. */
export function isRefused(name: string, { refuses, accepts }: Quirks): boolean {
  if (refuses.includes(name)) return true;
  return !accepts.includes(name) && accepts.some((path) => !path.includes('.'));
}

/** Rules for the members of an object and, by name, for the objects inside it. */
class MemberRules {
  readonly #refused = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #inner = new Map<string, MemberRules>();

  constructor({ refuses, accepts }: Pick<Quirks, 'refuses' | 'accepts'>, betas: readonly string[]) {
    for (const path of [...refuses, ...betas]) this.#addPath(path, (rules, name) => rules.#refused.add(name));
    for (const path of accepts) this.#addPath(path, (rules, name) => rules.#accepted.add(name));
  }

  get isEmpty(): boolean {
    return this.#refused.size === 0 && this.#accepted.size === 0 && this.#inner.size === 0;
  }

  refuses(name: string): boolean {
    return this.#refused.has(name) || (this.#accepted.size > 0 && !this.#accepted.has(name));
  }

  inside(name: string): MemberRules | undefined {
    return this.#inner.get(name);
  }

  #addPath(path: string, add: (rules: MemberRules, name: string) => void): void {
    const dot = path.indexOf('.');
    if (dot === -1) return add(this, path);
    const outer = path.slice(0, dot);
    const inner = this.#inner.get(outer) ?? new MemberRules({ refuses: [], accepts: [] }, []);
    this.#inner.set(outer, inner);
    inner.#addPath(path.slice(dot + 1), add);
  }
}

/** Removes rejected members. Returns the same value if there are none. */
function withoutRefused(value: JsonValue, rules: MemberRules, path: string, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => withoutRefused(entry, rules, path, notes));
  // A raw number is also an object but has no members.
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
  let remaining = value;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (rules.refuses(name)) {
      remaining = without(remaining, [name]);
      if (!isMeaningless(name, member)) notes.drop(path === '' ? name : `${name} of ${path}`);
      continue;
    }
    const inner = rules.inside(name);
    if (inner === undefined) continue;
    const filtered = withoutRefused(member, inner, path === '' ? name : `${path}.${name}`, notes);
    if (filtered !== member) remaining = { ...remaining, [name]: filtered };
  }
  return remaining;
}
