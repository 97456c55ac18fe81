import { createHash } from 'node:crypto';
import type { ClientTool, Conversation, ToolForm } from './conversation.ts';

/** What a name on the wire stands for. */
export interface NamedTool {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
}

/** What an upstream allows a tool to be called. */
export interface NameRules {
  readonly maxLength: number;
  /** Characters that are not allowed, global. */
  readonly forbidden: RegExp;
  /** A name must begin with one of these. */
  readonly begin: RegExp;
}

/** What most vendors take. Source: OpenAI API reference, function names. */
export const plainNames: NameRules = { maxLength: 64, forbidden: /[^A-Za-z0-9_-]/g, begin: /^[A-Za-z0-9_-]/ };

/**
 * Names under which the tools of one conversation travel to an upstream, and back: groups are flattened, characters and
 * lengths that the upstream refuses are replaced. The same conversation always gets the same names.
 */
export class ToolNames {
  readonly #rules: NameRules;
  readonly #wire = new Map<string, string>();
  readonly #tools = new Map<string, NamedTool>();

  constructor({ tools, items }: Pick<Conversation, 'tools' | 'items'>, rules: NameRules) {
    this.#rules = rules;
    // The names of declared tools first: what history calls something else must not take them away.
    for (const tool of tools) if (isClientTool(tool)) this.#add(tool);
    for (const item of items) if (item.type === 'tool_call') this.#add(item);
  }

  /** The name to send. */
  toWire(name: string, namespace: string | undefined): string {
    return this.#wire.get(keyOf(name, namespace)) ?? this.#fit(flatten(name, namespace));
  }

  /** What a model means by a name; models also call what does not exist. */
  fromWire(wireName: string): NamedTool {
    return this.#tools.get(wireName) ?? { name: wireName, namespace: undefined, form: 'function' };
  }

  #add({ name, namespace, form }: NamedTool): void {
    const key = keyOf(name, namespace);
    if (this.#wire.has(key)) return;
    const flat = flatten(name, namespace);
    const fitted = this.#fit(flat);
    const wireName = this.#tools.has(fitted) ? this.#shorten(flat, key) : fitted;
    this.#wire.set(key, wireName);
    this.#tools.set(wireName, { name, namespace, form });
  }

  #fit(name: string): string {
    const { maxLength, forbidden, begin } = this.#rules;
    const clean = name.replace(forbidden, '_');
    const begun = begin.test(clean) ? clean : `_${clean}`;
    return begun.length <= maxLength && begun === name ? begun : this.#shorten(begun, name);
  }

  /** Ends in a hash of the original, so that two names never become one. */
  #shorten(name: string, original: string): string {
    const hash = createHash('sha256').update(original).digest('hex').slice(0, 8);
    return `${name.replace(this.#rules.forbidden, '_').slice(0, this.#rules.maxLength - 9)}_${hash}`;
  }
}

/** True for a tool that the client runs; the vendor runs the others. */
export function isClientTool(tool: Conversation['tools'][number]): tool is ClientTool {
  return 'name' in tool;
}

function flatten(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}\n${name}`;
}
