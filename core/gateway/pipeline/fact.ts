/** A fact of any type, as stages list them under `reads` and `writes`. */
export interface AnyFact {
  readonly name: string;
}

/**
 * A fact is a typed key under which one stage leaves a value for later stages. Stages declare the facts that they read and
 * write, so that loading a gateway.yaml with an impossible order fails.
 */
export interface Fact<T> extends AnyFact {
  /** Exists only for the type checker: it ties the key to its value's type. */
  readonly _value?: (value: T) => T;
}

/** Defines a fact. The name is for messages about gateway.yaml; the identity is the object. */
export function defineFact<T>(name: string): Fact<T> {
  return Object.freeze({ name });
}
