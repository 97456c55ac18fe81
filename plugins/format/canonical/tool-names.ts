import { createHash } from 'node:crypto';
import type { ClientTool, Conversation, ToolForm } from './conversation.ts';

/** The tool that a wire name stands for. */
export interface NamedTool {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
}

/** The tool names that an upstream allows. */
export interface NameRules {
  readonly maxLength: number;
  /** Characters that are not allowed; needs the flag `g`. */
  readonly forbidden: RegExp;
  /** Characters with which a name may begin. */
  readonly begin: RegExp;
}

/** The rules of most vendors. Source: OpenAI API reference, function names. */
export const plainNames: NameRules = { maxLength: 64, forbidden: /[^A-Za-z0-9_-]/g, begin: /^[A-Za-z0-9_-]/ };

/**
 * Maps the tool names of a conversation to wire names and back: groups are flattened, characters that the upstream refuses
 * are replaced, and names that are too long are shortened. The same conversation always gets the same names.
 */
export class ToolNames {
  readonly #rules: NameRules;
  readonly #wire = new Map<string, string>();
  readonly #tools = new Map<string, NamedTool>();

  constructor({ tools, items }: Pick<Conversation, 'tools' | 'items'>, rules: NameRules) {
    this.#rules = rules;
    // Declared tools first: calls in the history must not take their names.
    for (const tool of tools) if (isClientTool(tool)) this.#add(tool);
    for (const item of items) if (item.type === 'tool_call') this.#add(item);
  }

  toWire(name: string, namespace: string | undefined): string {
    return this.#wire.get(keyOf(name, namespace)) ?? this.#fit(flatten(name, namespace));
  }

  /** The tool with this wire name; models also call tools that do not exist. */
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
    const prefixed = begin.test(clean) ? clean : `_${clean}`;
    return prefixed.length <= maxLength && prefixed === name ? prefixed : this.#shorten(prefixed, name);
  }

  /** Appends a hash of the original, so that names stay distinct. */
  #shorten(name: string, original: string): string {
    const hash = createHash('sha256').update(original).digest('hex').slice(0, 8);
    return `${name.replace(this.#rules.forbidden, '_').slice(0, this.#rules.maxLength - 9)}_${hash}`;
  }
}

/** Whether the client, not the vendor, runs the tool. */
export function isClientTool(tool: Conversation['tools'][number]): tool is ClientTool {
  return 'name' in tool;
}

function flatten(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}\n${name}`;
}
