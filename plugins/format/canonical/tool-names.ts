import { createHash } from 'node:crypto';
import type { ClientTool, Conversation, ToolForm } from './conversation.ts';

export interface ToolReference {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
}

export interface NameRules {
  readonly maxLength: number;
  /** Matches characters that are not allowed; must have the flag `g`. */
  readonly forbidden: RegExp;
  /** Matches names that begin with an allowed character. */
  readonly firstCharacter: RegExp;
}

/** Rules that most vendors accept. Source: OpenAI API reference, function names. */
export const commonNameRules: NameRules = {
  maxLength: 64,
  forbidden: /[^A-Za-z0-9_-]/g,
  firstCharacter: /^[A-Za-z0-9_-]/,
};

/**
 * Maps the tool names of a conversation to wire names and back: flattens groups, replaces characters that the upstream does not allow, and
 * shortens names that are too long. The same conversation always gets the same names.
 */
export class ToolNames {
  readonly #rules: NameRules;
  readonly #wireNames = new Map<string, string>();
  readonly #toolsByWireName = new Map<string, ToolReference>();

  constructor({ tools, items }: Pick<Conversation, 'tools' | 'items'>, rules: NameRules) {
    this.#rules = rules;
    // Declared tools come first, because calls in the history must not take their names.
    for (const tool of tools) if (isClientTool(tool)) this.#add(tool);
    for (const item of items) if (item.type === 'tool_call') this.#add(item);
  }

  toWire(name: string, namespace: string | undefined): string {
    return this.#wireNames.get(keyOf(name, namespace)) ?? this.#toAllowedName(flatten(name, namespace));
  }

  /** Finds the tool with this wire name. If the model calls a tool that does not exist, its name is unchanged. */
  fromWire(wireName: string): ToolReference {
    return this.#toolsByWireName.get(wireName) ?? { name: wireName, namespace: undefined, form: 'function' };
  }

  #add({ name, namespace, form }: ToolReference): void {
    const key = keyOf(name, namespace);
    if (this.#wireNames.has(key)) return;
    const flatName = flatten(name, namespace);
    const allowedName = this.#toAllowedName(flatName);
    // Tools in different groups can have the same flat name, but not the same key.
    const wireName = this.#toolsByWireName.has(allowedName) ? this.#shorten(this.#clean(flatName), key) : allowedName;
    this.#wireNames.set(key, wireName);
    this.#toolsByWireName.set(wireName, { name, namespace, form });
  }

  #toAllowedName(name: string): string {
    const clean = this.#clean(name);
    return clean === name && clean.length <= this.#rules.maxLength ? clean : this.#shorten(clean, name);
  }

  #clean(name: string): string {
    const clean = name.replace(this.#rules.forbidden, '_');
    return this.#rules.firstCharacter.test(clean) ? clean : `_${clean}`;
  }

  #shorten(cleanName: string, original: string): string {
    const hash = createHash('sha256').update(original).digest('hex').slice(0, 8);
    return `${cleanName.slice(0, this.#rules.maxLength - 9)}_${hash}`;
  }
}

/** Returns true if the client, not the vendor, runs the tool. */
export function isClientTool(tool: Conversation['tools'][number]): tool is ClientTool {
  return 'name' in tool;
}

function flatten(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : `${namespace}__${name}`;
}

function keyOf(name: string, namespace: string | undefined): string {
  return `${namespace ?? ''}\n${name}`;
}
