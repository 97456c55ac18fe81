import type { Quirks } from '#core/config/catalog/quirks.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { isMeaningless, mapEntries } from './adapt-members.ts';
import type { Adaptation } from '../contract/adaptation.ts';

/** Members of OpenRouter and LiteLLM that name further models. The plan permits only the requested model, and the record names only it. */
export const furtherModels = ['models', 'fallbacks'];

/**
 * Removes members that a route rejects, at any depth: history of another vendor, defaults that a client spells out, and
 * beta features of a vendor that is not behind the route.
 *
 * @param others members that the format's own vendor knows but the route does not
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

/** True if a route rejects a member at the top level of a request. */
export function isRefused(name: string, { refuses, accepts }: Quirks): boolean {
  if (refuses.includes(name)) return true;
  return !accepts.includes(name) && accepts.some((path) => !path.includes('.'));
}

/** Members to remove from an object, and from the objects inside it. */
class MemberRules {
  readonly #refused = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #inner = new Map<string, MemberRules>();

  constructor({ refuses, accepts }: Pick<Quirks, 'refuses' | 'accepts'>, betas: readonly string[]) {
    for (const path of [...refuses, ...betas]) this.#at(path, (rules, name) => rules.#refused.add(name));
    for (const path of accepts) this.#at(path, (rules, name) => rules.#accepted.add(name));
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

  #at(path: string, add: (rules: MemberRules, name: string) => void): void {
    const dot = path.indexOf('.');
    if (dot === -1) return add(this, path);
    const outer = path.slice(0, dot);
    const inner = this.#inner.get(outer) ?? new MemberRules({ refuses: [], accepts: [] }, []);
    this.#inner.set(outer, inner);
    inner.#at(path.slice(dot + 1), add);
  }
}

/** Returns the same value if it has no rejected member. */
function withoutRefused(value: JsonValue, rules: MemberRules, path: string, notes: Notes): JsonValue {
  if (Array.isArray(value)) return mapEntries(value, (entry) => withoutRefused(entry, rules, path, notes));
  // A raw number is also an object but has no members.
  if (!isJsonObject(value) || JSON.isRawJSON(value)) return value;
  let kept = value;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    if (rules.refuses(name)) {
      const { [name]: _, ...others } = kept;
      kept = others;
      if (!isMeaningless(name, member)) notes.drop(path === '' ? name : `${name} of ${path}`);
      continue;
    }
    const inner = rules.inside(name);
    if (inner === undefined) continue;
    const filtered = withoutRefused(member, inner, path === '' ? name : `${path}.${name}`, notes);
    if (filtered !== member) kept = { ...kept, [name]: filtered };
  }
  return kept;
}
